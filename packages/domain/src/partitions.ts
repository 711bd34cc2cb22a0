/** Months are made before they come, so that a day without housekeeping does no harm. */
const monthsAhead = 3;
/** The last month too: a submission that began in it may still report usage. */
const monthsBehind = 1;

/** From `fromMs` up to `toMs`, Unix time. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * What the partitions of a table leave uncovered from last month to three months ahead, a range of at
 * most one month (UTC) each, oldest first. An existing partition may begin and end anywhere.
 */
export function missingPartitions(nowMs: number, existing: readonly TimeRange[]): TimeRange[] {
  const now = new Date(nowMs);
  const missing: TimeRange[] = [];
  for (let months = -monthsBehind; months <= monthsAhead; months += 1) {
    const endMs = monthStartMs(now, months + 1);
    for (let fromMs = monthStartMs(now, months); fromMs < endMs;) {
      const at = fromMs;
      const covering = existing.find((range) => range.fromMs <= at && at < range.toMs);
      if (covering !== undefined) {
        fromMs = covering.toMs;
        continue;
      }
      const later = existing.filter((range) => range.fromMs > at).map((range) => range.fromMs);
      const toMs = Math.min(endMs, ...later);
      missing.push({ fromMs, toMs });
      fromMs = toMs;
    }
  }
  return missing;
}

function monthStartMs(now: Date, months: number): number {
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months);
}
