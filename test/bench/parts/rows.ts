import { setTimeout as delay } from 'node:timers/promises';
import { rowsReportedMs, type Written } from '../systems/counters.ts';
import type { System } from '../systems/system.ts';

/**
 * The rows that a system wrote while `lives` submissions ended. `inserts`, `updates` and `deletes`
 * are averages per submission.
 */
export interface Rows {
  readonly lives: number;
  readonly inserts: number;
  readonly updates: number;
  readonly deletes: number;
  /** The share of the updates that needed no new index entries (heap-only tuples). */
  readonly hotShare: number;
}

export async function withRows<T>(
  systems: readonly System[],
  measurePart: () => Promise<T>,
): Promise<{ readonly results: T; readonly rows: readonly Rows[] }> {
  const before = await writtenBy(systems);
  const sinceMs = Date.now();
  const results = await measurePart();
  const after = await writtenBy(systems);
  const rows = await Promise.all(
    systems.map(async (system, index) => {
      const { count } = await system.endedSince(sinceMs);
      const [first, last] = [before[index], after[index]];
      if (first === undefined || last === undefined) throw new Error('a system has no counters');
      return rowsBetween(first, last, count);
    }),
  );
  return { results, rows };
}

/** The rows that each system has written so far. Waits first, because Postgres counts rows late. */
async function writtenBy(systems: readonly System[]): Promise<readonly Written[]> {
  if (systems.length > 0) await delay(rowsReportedMs);
  return Promise.all(systems.map((system) => system.written()));
}

export function rowsBetween(before: Written, after: Written, lives: number): Rows {
  const updates = after.updates - before.updates;
  return {
    lives,
    inserts: (after.inserts - before.inserts) / lives,
    updates: updates / lives,
    deletes: (after.deletes - before.deletes) / lives,
    hotShare: (after.hotUpdates - before.hotUpdates) / updates,
  };
}
