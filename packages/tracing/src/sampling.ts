/** The values of `OTEL_TRACES_SAMPLER` that the services accept. */
type SamplerName =
  | 'always_on'
  | 'always_off'
  | 'traceidratio'
  | 'parentbased_always_on'
  | 'parentbased_always_off'
  | 'parentbased_traceidratio';

/**
 * The share of submissions that are traced, from 0 to 1. The prefix `parentbased_` changes nothing
 * (decision 42). `argument` is the share for `traceidratio`.
 */
export function ratioOf(sampler: SamplerName, argument: string): number {
  switch (sampler) {
    case 'always_on':
    case 'parentbased_always_on':
      return 1;
    case 'always_off':
    case 'parentbased_always_off':
      return 0;
    case 'traceidratio':
    case 'parentbased_traceidratio':
      return Number(argument);
  }
}

/**
 * The last 12 hexadecimal digits of the id of a submission or event decide if its trace is
 * recorded. They are random, because the id is a UUIDv7.
 */
const decidingDigits = 12;
const decidingRange = 16 ** decidingDigits;

/**
 * True if the trace of the submission or event is recorded. Only `ratio` and the id decide, so
 * services with the same `ratio` take the same decision (decision 42).
 */
export function isTracedIn(ratio: number, subjectId: string): boolean {
  return Number.parseInt(subjectId.slice(-decidingDigits), 16) < ratio * decidingRange;
}
