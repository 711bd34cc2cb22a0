import { setTimeout as pause } from 'node:timers/promises';
import { missingPartitions, type TimeRange } from '@svc/domain';
import type { Store } from '../connection/store.ts';
import { databaseNow } from './environment.ts';

/** Tables that are partitioned by the time in an id, one partition per month. */
const partitionedTables = ['usage_reports', 'deliveries', 'delivery_attempts'] as const;

/**
 * The most attempts to create the missing partitions. An attempt waits at most 15 ms for each lock
 * of a table, because other statements queue behind the attempt.
 */
const attemptsMax = 10;
const retryMs = 100;

/**
 * The range of a partition of `table`: the ids with a time from `from` (inclusive) to `to`
 * (exclusive).
 */
export interface PartitionRange {
  readonly table: string;
  readonly from: Date;
  readonly to: Date;
}

export interface PartitionRound {
  /** `movedRows` is the number of rows that were moved from the default partition. */
  readonly made: readonly (PartitionRange & { readonly movedRows: number })[];
  /** Partitions that are still missing. Rows of these ranges go to the default partition. */
  readonly missing: readonly PartitionRange[];
  readonly errors: readonly unknown[];
}

/**
 * Creates the missing partitions, and tries again for about a second while some are missing. Throws
 * only if the list of missing partitions cannot be read.
 */
export async function makePartitions(store: Store): Promise<PartitionRound> {
  const made: PartitionRound['made'][number][] = [];
  for (let attempt = 1; ; attempt += 1) {
    const errors: unknown[] = [];
    for (const range of await findMissing(store)) {
      try {
        // Each call is a separate transaction, so a later error does not undo it.
        const movedRows = await makeOne(store, range);
        if (movedRows !== null) made.push({ ...range, movedRows });
      } catch (error) {
        errors.push(error);
      }
    }
    const missing = await findMissing(store);
    if (missing.length === 0 || attempt === attemptsMax) return { made, missing, errors };
    await pause(retryMs);
  }
}

/**
 * Creates a partition and returns the number of rows that were moved into it from the default
 * partition. Null if another session has created it, or is creating any partition.
 */
async function makeOne(store: Store, { table, from, to }: PartitionRange): Promise<number | null> {
  const [row] = await store.query<{ moved: number | null }>(
    'SELECT svc_make_partition($1, $2::timestamptz, $3::timestamptz)::float8 AS moved',
    [table, from, to],
  );
  return row?.moved ?? null;
}

/** The missing partitions, from last month to three months ahead by the database's clock. */
export async function findMissing(store: Store): Promise<PartitionRange[]> {
  const now = await databaseNow(store);
  const existing = await readPartitions(store);
  return partitionedTables.flatMap((table) =>
    missingPartitions(now.getTime(), existing.get(table) ?? []).map(({ fromMs, toMs }) => ({
      table,
      from: new Date(fromMs),
      to: new Date(toMs),
    })),
  );
}

/**
 * The ranges of the partitions of each table, without the default partition. A partition that is
 * dropped during the statement is left out.
 */
export async function readPartitions(store: Store): Promise<Map<string, TimeRange[]>> {
  const rows = await store.query<{ parent: string; bound: string | null }>(
    `SELECT p.relname AS parent, pg_get_expr(c.relpartbound, c.oid) AS bound
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
     WHERE p.relname = ANY($1::text[]) AND p.relnamespace = current_schema()::regnamespace`,
    [partitionedTables],
  );
  return new Map(
    partitionedTables.map((table) => [
      table,
      rows.filter(({ parent }) => parent === table).flatMap(({ bound }) => rangeOf(bound ?? '')),
    ]),
  );
}

/**
 * Returns the range of a bound such as `FOR VALUES FROM ('0193…') TO ('0194…')`, as a list of one.
 * The list is empty for the default partition.
 */
function rangeOf(bound: string): TimeRange[] {
  const [fromMs, toMs] = [...bound.matchAll(/'([0-9a-f]{8})-([0-9a-f]{4})/g)].map(
    ([, high = '', low = '']) => Number.parseInt(high + low, 16),
  );
  return fromMs === undefined || toMs === undefined ? [] : [{ fromMs, toMs }];
}
