/**
 * Partitions are created for this many months ahead. Therefore a day without housekeeping does no
 * harm.
 */
const monthsAhead = 3;
/**
 * Partitions are also created for this many past months, because a usage report belongs in the
 * partition of the month in which its submission was created.
 */
const monthsBehind = 1;

/** From `fromMs` (inclusive) to `toMs` (exclusive), Unix time in milliseconds. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * The ranges without a partition, from last month to three months ahead, oldest first. Each range
 * is within one month (UTC). The `existing` partitions may begin and end anywhere.
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

const dayMs = 24 * 3_600_000;

/** The partitions whose rows are all older than `retentionDays` days, oldest first. */
export function expiredPartitions(
  nowMs: number,
  existing: readonly TimeRange[],
  retentionDays: number,
): TimeRange[] {
  return existing
    .filter(({ toMs }) => toMs <= nowMs - retentionDays * dayMs)
    .toSorted((one, other) => one.fromMs - other.fromMs);
}

/**
 * Events before this Unix time (ms) may be deleted. A row of `deliveries` may need its event.
 * Therefore all events since the start of the oldest partition of `deliveries` are kept.
 */
export function eventsExpireBefore(
  nowMs: number,
  deliveries: readonly TimeRange[],
  retentionDays: number,
): number {
  return Math.min(nowMs - retentionDays * dayMs, ...deliveries.map(({ fromMs }) => fromMs));
}

function monthStartMs(now: Date, months: number): number {
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months);
}
