import type { BacklogSample } from '../parts/backlog.ts';
import type { CancelLatencies } from '../parts/cancels.ts';
import type { DeadNodes } from '../parts/dead-nodes.ts';
import type { Rows } from '../parts/rows.ts';
import { median, quantile } from '../quantile.ts';
import { figure, ratio, table } from './markdown.ts';
import { perThousand } from './shapes-table.ts';

export function rowsTable(rows: readonly Rows[], names: readonly string[]): string {
  const cells = rows.map(({ lives, inserts, updates, deletes, hotShare }, index) => [
    `${names[index]}, mean of ${figure(lives)}`,
    ...[inserts, updates, deletes].map(figure),
    `${(hotShare * 100).toFixed(0)} %`,
  ]);
  return table(
    ['rows per whole life', 'inserted', 'updated', 'deleted', 'heap-only updates'],
    cells,
  );
}

export function backlogTable(
  kind: string,
  samples: readonly (readonly BacklogSample[])[],
  names: readonly string[],
): string {
  const of = (index: number, pick: (sample: BacklogSample) => number) =>
    median((samples[index] ?? []).map(pick));
  const rows = names.map((name, index) => [
    `${kind}, ${figure(of(index, ({ count }) => count))}: ${name}`,
    figure(of(index, ({ perSecond }) => perSecond)),
    figure(of(index, ({ firstAfterMs }) => firstAfterMs)),
    perThousand(of(index, ({ totalCpuMicros }) => totalCpuMicros)),
  ]);
  const compared = (pick: (sample: BacklogSample) => number) => ratio(of(0, pick), of(1, pick));
  rows.push([
    `${kind}: ${names.join(' / ')}`,
    compared(({ perSecond }) => perSecond),
    compared(({ firstAfterMs }) => firstAfterMs),
    compared(({ totalCpuMicros }) => totalCpuMicros),
  ]);
  return table(
    [
      '',
      'results a second',
      "ms from the service's start to its first result",
      'CPU-seconds per 1,000',
    ],
    rows,
  );
}

const cancelRow = (name: string, valuesMs: readonly number[]): string[] => [
  name,
  ...[0.5, 0.99, 1].map((share) => figure(quantile(valuesMs, share))),
];

export function cancelTable({ fromRequestMs, fromAnswerMs }: CancelLatencies): string {
  return table(
    [`cancel → node's frame, ${fromRequestMs.length} cancels`, 'p50 ms', 'p99 ms', 'worst ms'],
    [cancelRow('from the request', fromRequestMs), cancelRow('from the answer', fromAnswerMs)],
  );
}

const silenceRow = (name: string, valuesMs: readonly number[]): string[] => [
  name,
  `${valuesMs.length}`,
  ...[0, 0.5, 1].map((share) => figure(quantile(valuesMs, share) / 1_000)),
];

export function deadNodesTable({ noticedAfterMs, lostAfterMs }: DeadNodes): string {
  const rows = [silenceRow('the fleet no longer counts the node', noticedAfterMs)];
  if (lostAfterMs.length > 0) rows.push(silenceRow('its run ended as `node_lost`', lostAfterMs));
  return table(["from a node's silence until …", 'count', 'least s', 'median s', 'most s'], rows);
}
