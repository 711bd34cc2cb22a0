/** The values of `OTEL_TRACES_SAMPLER`. */
type SamplerName =
  | 'always_on'
  | 'always_off'
  | 'traceidratio'
  | 'parentbased_always_on'
  | 'parentbased_always_off'
  | 'parentbased_traceidratio';

/**
 * The share of submissions that are traced, from 0 to 1. Every service reads the same variables and
 * decides alike. So a sampler that begins with `parentbased` does the same as one without. The
 * sampling flag of a tenant has no effect (decision 42). `argument` is a number from 0 to 1.
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

/** The number of hexadecimal digits at the end of a UUIDv7 that decide. They are random. */
const decidingDigits = 12;
const decidingRange = 16 ** decidingDigits;

/**
 * True if the subject's trace is recorded. The service made the id, and its end is random. So every
 * service takes the same decision from the id alone, and no tenant can influence it.
 */
export function isTracedIn(ratio: number, subjectId: string): boolean {
  return Number.parseInt(subjectId.slice(-decidingDigits), 16) < ratio * decidingRange;
}
