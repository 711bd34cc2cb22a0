/**
 * An RFC 3339 time with a zone, in the years 1000 to 2999, at most three decimals and without a
 * leap second.
 */
const pattern =
  /^([12]\d{3}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?(?:Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** True if the text matches `pattern` and its date exists. For example, 30 February does not. */
export function isExactTime(text: string): boolean {
  const day = pattern.exec(text)?.[1];
  if (day === undefined) return false;
  const midnight = new Date(`${day}T00:00:00Z`);
  // `Date` alone would read 30 February as a day in March.
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}
