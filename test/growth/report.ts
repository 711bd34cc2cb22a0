import { boundedTables, keptTables, type TableSize } from './sizes.ts';
import type { Month, Plan, Year } from './year.ts';

/**
 * The most milliseconds that a session may wait for a lock, or that an exclusive lock may last.
 * Applies only to long runs. Pauses of the machine do not count.
 */
const lockMsMax = 50;
const growthMax = 1.2;

interface Verdict {
  /** One line with the verdict, the faults and the figures. Has no line break at its end. */
  readonly verdict: string;
  readonly faults: readonly string[];
}

/**
 * Judges the year. Ignores the table sizes of the first months, because the retention deletes
 * little or nothing in them.
 */
export function judge(
  year: Year,
  { plan, isLong }: { readonly plan: Plan; readonly isLong: boolean },
): Verdict {
  const settled = year.months.slice(Math.ceil(plan.retentionDays / 30) + 1);
  const growth = boundedTables.map((table) => ({
    table,
    ratio: growthOf(settled, table, isLong ? 'bytes' : 'rows'),
  }));
  const { waitMs, holdMs, netWaitMs, netHoldMs, gapMs } = year.locks;
  const faults = [
    ...(settled.length < 2 ? ['too few months to compare'] : []),
    ...growth
      .filter(({ ratio }) => ratio > growthMax)
      .map(
        ({ table, ratio }) =>
          `in the later half of the compared months, ${table} was ${ratio.toFixed(2)} times as large as in the earlier half`,
      ),
    ...(year.partitionsDropped === 0 ? ['no partition was dropped'] : []),
    ...(year.eventsDeleted === 0 ? ['no event was deleted'] : []),
    ...year.losses,
    ...(isLong && netWaitMs > lockMsMax
      ? [`a session waited ${netWaitMs.toFixed(1)} ms for a lock, longer than ${lockMsMax} ms`]
      : []),
    ...(isLong && netHoldMs > lockMsMax
      ? [`an exclusive lock lasted ${netHoldMs.toFixed(1)} ms, longer than ${lockMsMax} ms`]
      : []),
  ];
  const worst = Math.max(...growth.map(({ ratio }) => ratio));
  const figures =
    `${year.months.length} months, ${year.submissions} submissions, ${year.partitionsDropped} partitions dropped, ` +
    `${year.eventsDeleted} events deleted, ` +
    `the tables from which rows are deleted were at most ${worst.toFixed(2)} times as large in the later half of the compared months as in the earlier half, ` +
    `the longest wait for a lock took ${netWaitMs.toFixed(1)} ms, and the longest of ${year.locks.holds} exclusive locks lasted ${netHoldMs.toFixed(1)} ms ` +
    `(${waitMs.toFixed(1)} and ${holdMs.toFixed(1)} ms if pauses of the machine are counted; longest gap between two samples of the locks ${gapMs.toFixed(1)} ms)`;
  const verdict = `growth: ${faults.length === 0 ? 'flat' : `FAILED, ${faults.join('; ')}`}. ${figures}`;
  return { verdict, faults };
}

/**
 * The largest size in the later half of the months, divided by the largest in the earlier half. The
 * comparison uses halves, because months differ in length.
 */
function growthOf(months: readonly Month[], table: string, what: keyof TableSize): number {
  const sizes = months.map(({ tables }) => tables.get(table)?.[what] ?? 0);
  const half = Math.ceil(sizes.length / 2);
  return Math.max(...sizes.slice(half)) / Math.max(1, ...sizes.slice(0, half));
}

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;

export function describeYear({ months }: Year): string {
  const tables = [...boundedTables, ...keptTables];
  const head = line(['month', ...tables]) + line(['---', ...tables.map(() => '---:')]);
  const body = months.map((month) =>
    line([month.name, ...tables.map((table) => cellOf(month, table))]),
  );
  return head + body.join('');
}

function cellOf({ tables }: Month, table: string): string {
  const { rows = 0, bytes = 0 } = tables.get(table) ?? {};
  return `${rows}, ${(bytes / 1e6).toFixed(1)} MB`;
}
