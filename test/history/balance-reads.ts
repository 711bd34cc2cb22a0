import type { BalanceRecord, LineRecord } from './history.ts';
import type { LineTimes } from './line-times.ts';

/**
 * Gives each read a position in the ledger, or else a violation. Returns no violation if and only
 * if some choice of positions fits all reads.
 */
export function explainReads(
  lines: readonly LineRecord[],
  times: readonly LineTimes[],
  reads: readonly BalanceRecord[],
): string[] {
  // Position i is the place after the first i rows.
  const positions = positionsByFigures(lines);
  const earliest = earliestOf(times);
  const latest = latestOf(times);
  const found: string[] = [];
  let floor = 0;
  const byEnd = reads.toSorted((one, other) => one.endMs - other.endMs);
  const chosen = new Map<BalanceRecord, number>();
  let next = 0;
  // If read A ended before read B began, B must not get an earlier position than A. Each read gets
  // the first possible position, because this leaves the most room for later reads.
  for (const read of reads.toSorted((one, other) => one.beginMs - other.beginMs)) {
    for (let before = byEnd[next]; before !== undefined; before = byEnd[next]) {
      if (before.endMs >= read.beginMs) break;
      next += 1;
      floor = Math.max(floor, chosen.get(before) ?? 0);
    }
    const least = Math.max(
      floor,
      firstIndex(latest.length, (i) => (latest[i] ?? 0) >= read.beginMs),
    );
    const candidates = positions.get(figures(read.balanceMicros, read.heldMicros)) ?? [];
    const index = firstIndex(candidates.length, (i) => (candidates[i] ?? 0) >= least);
    const position = candidates[index];
    if (position !== undefined && (earliest[position] ?? 0) <= read.endMs) {
      chosen.set(read, position);
      continue;
    }
    found.push(
      `a read from ${read.beginMs.toFixed(0)} to ${read.endMs.toFixed(0)} ms saw a balance of ${read.balanceMicros} micros, ${read.heldMicros} of them held; the ledger ${candidates.length === 0 ? 'never had these figures' : 'had these figures only earlier or later'}`,
    );
  }
  return found;
}

function figures(balance: bigint, held: bigint): string {
  return `${balance}/${held}`;
}

/**
 * Maps each pair of balance and held credits to the positions in the ledger at which a read may see
 * the pair. The lowest position comes first.
 */
function positionsByFigures(lines: readonly LineRecord[]): Map<string, number[]> {
  const positions = new Map([[figures(0n, 0n), [0]]]);
  for (const [index, line] of lines.entries()) {
    if (isInTheMiddle(line, lines[index + 1])) continue;
    const name = figures(line.balanceAfterMicros, line.heldAfterMicros);
    const known = positions.get(name);
    if (known === undefined) positions.set(name, [index + 1]);
    else known.push(index + 1);
  }
  return positions;
}

/**
 * True if `line` and `next` are rows of one ending. A read never sees the figures between them,
 * because one transaction writes all rows of an ending.
 */
function isInTheMiddle(line: LineRecord, next: LineRecord | undefined): boolean {
  return (
    line.type !== 'hold' && line.submissionId !== null && next?.submissionId === line.submissionId
  );
}

/**
 * Element i of the result is the earliest moment at which the first i rows of the ledger can all
 * have been written.
 */
function earliestOf(times: readonly LineTimes[]): number[] {
  const earliest = [0];
  for (const { earliestMs } of times) earliest.push(Math.max(earliest.at(-1) ?? 0, earliestMs));
  return earliest;
}

/**
 * Element i of the result is the latest moment at which a read may still find only the first i rows
 * of the ledger.
 */
function latestOf(times: readonly LineTimes[]): number[] {
  const latest = [Number.POSITIVE_INFINITY];
  for (const { latestMs } of times.toReversed())
    latest.push(Math.min(latest.at(-1) ?? Number.POSITIVE_INFINITY, latestMs));
  return latest.toReversed();
}

/**
 * The first index for which `holds` is true, or `length` if there is no such index. If `holds` is
 * true for an index, `holds` must be true for every later index.
 */
function firstIndex(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
