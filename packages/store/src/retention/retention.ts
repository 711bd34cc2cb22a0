import { setTimeout as pause } from 'node:timers/promises';
import { deletionBatchMaxDefault, eventsExpireBefore, expiredPartitions } from '@svc/domain';
import { isLockTimeout } from '../connection/errors.ts';
import type { Store } from '../connection/store.ts';
import { databaseNow } from '../schema/environment.ts';
import { type PartitionRange, readPartitions } from '../schema/partitions.ts';

/**
 * Drops old partitions and deletes old events (decision 36). A step is skipped while another
 * process does it.
 */

export interface Retention {
  readonly usageDays: number;
  /** Deliveries, attempts and events are kept for at least this many days. */
  readonly deliveryDays: number;
}

export interface RetentionRound {
  readonly dropped: readonly PartitionRange[];
  /** Partitions that are old enough to drop, but are still needed (decision 36). */
  readonly needed: readonly PartitionRange[];
  readonly errors: readonly unknown[];
}

export interface LockPauses {
  /** The most attempts to drop one partition, or to delete one page of events. */
  readonly attemptsMax: number;
  /** The pause between two attempts. */
  readonly pauseMs: number;
}

/**
 * An attempt waits at most 15 ms for each lock. If all attempts fail, the work is left to the next
 * round.
 */
const lockPauses: LockPauses = { attemptsMax: 20, pauseMs: 500 };

/**
 * The tables with partitions, and the retention of each. Deliveries come before their attempts,
 * because attempts are needed as long as their deliveries exist.
 */
const daysOfTables: readonly (readonly [string, keyof Retention])[] = [
  ['usage_reports', 'usageDays'],
  ['deliveries', 'deliveryDays'],
  ['delivery_attempts', 'deliveryDays'],
];

/**
 * Drops the partitions that are older than the retention, each in its own transaction. Partitions
 * that are still needed stay (`RetentionRound`).
 */
export async function dropExpiredPartitions(
  store: Store,
  retention: Retention,
  pauses: LockPauses = lockPauses,
): Promise<RetentionRound> {
  const dropped: PartitionRange[] = [];
  const needed: PartitionRange[] = [];
  const errors: unknown[] = [];
  for (const range of await findOverduePartitions(store, retention)) {
    try {
      const outcome = await withLockRetries(() => dropOne(store, range), pauses);
      if (outcome === 'dropped') dropped.push(range);
      if (outcome === 'needed') needed.push(range);
    } catch (error) {
      errors.push(error);
    }
  }
  return { dropped, needed, errors };
}

/**
 * Returns the partitions whose rows are all older than the retention, in the order of
 * `daysOfTables`.
 */
export async function findOverduePartitions(
  store: Store,
  retention: Retention,
): Promise<PartitionRange[]> {
  const nowMs = (await databaseNow(store)).getTime();
  const existing = await readPartitions(store);
  return daysOfTables.flatMap(([table, days]) =>
    expiredPartitions(nowMs, existing.get(table) ?? [], retention[days]).map(
      ({ fromMs, toMs }) => ({ table, from: new Date(fromMs), to: new Date(toMs) }),
    ),
  );
}

async function dropOne(store: Store, { table, from, to }: PartitionRange): Promise<string | null> {
  const [row] = await store.query<{ outcome: string | null }>(
    'SELECT svc_drop_partition($1, $2::timestamptz, $3::timestamptz) AS outcome',
    [table, from, to],
  );
  return row?.outcome ?? null;
}

export interface EventPage {
  readonly deleted: number;
  /**
   * The id of the last event of this page. The next page begins after this event. Null if the page
   * is empty, or if another process deletes events at the same time.
   */
  readonly next: string | null;
}

/**
 * Returns the time before which events may be deleted: `deliveryDays` ago, or the start of the
 * oldest partition of `deliveries` if that is earlier.
 */
export async function expiredEventsBefore(store: Store, deliveryDays: number): Promise<Date> {
  const now = await databaseNow(store);
  const deliveries = (await readPartitions(store)).get('deliveries') ?? [];
  return new Date(eventsExpireBefore(now.getTime(), deliveries, deliveryDays));
}

/**
 * Deletes a page of the events older than `before`, the oldest first, except those to which a
 * stored delivery may belong. Throws if `before` is less than 30 days ago.
 */
export async function deleteExpiredEvents(
  store: Store,
  {
    before,
    after,
    limit = deletionBatchMaxDefault,
  }: { readonly before: Date; readonly after: string | null; readonly limit?: number | undefined },
): Promise<EventPage> {
  const [row] = await withLockRetries(
    () =>
      store.query<{ deleted: number; next: string | null }>(
        `SELECT deleted::float8 AS deleted, last_id::text AS next
         FROM svc_delete_events($1::timestamptz, $2::uuid, $3)`,
        [before, after, limit],
      ),
    lockPauses,
  );
  return { deleted: row?.deleted ?? 0, next: row?.next ?? null };
}

async function withLockRetries<Result>(
  work: () => Promise<Result>,
  { attemptsMax, pauseMs }: LockPauses,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isLockTimeout(error) || attempt >= attemptsMax) throw error;
      await pause(pauseMs);
    }
  }
}
