/** The values of `OTEL_TRACES_SAMPLER` that the services accept. */
type SamplerName =
  | 'always_on'
  | 'always_off'
  | 'traceidratio'
  | 'parentbased_always_on'
  | 'parentbased_always_off'
  | 'parentbased_traceidratio';

/**
 * The share of submissions that are traced, from 0 to 1. Every service reads the same environment
 * variables, so all services trace the same submissions. The prefix `parentbased_` changes nothing,
 * because the sampling flag of a tenant has no effect (decision 42). `argument` is the share for
 * `traceidratio`.
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
 * The number of hexadecimal digits that decide whether the trace of a subject is recorded. They are
 * the last digits of the subject's id, a UUIDv7. These digits are random.
 */
const decidingDigits = 12;
const decidingRange = 16 ** decidingDigits;

/**
 * True if the subject's trace is recorded. Only `ratio` and the id decide, so every service takes
 * the same decision. No tenant can influence the decision, because a service makes the id, and the
 * last digits of the id are random.
 */
export function isTracedIn(ratio: number, subjectId: string): boolean {
  return Number.parseInt(subjectId.slice(-decidingDigits), 16) < ratio * decidingRange;
}
