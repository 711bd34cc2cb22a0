import { type Sample, refusedShareMax } from '../measure.ts';
import type { BacklogSample } from '../parts/backlog.ts';
import type { CancelLatencies } from '../parts/cancels.ts';
import type { DeadNodes } from '../parts/dead-nodes.ts';
import type { ShapeResult } from '../parts/shapes.ts';
import { median, quantile } from '../quantile.ts';
import { figure, ratio, table } from './markdown.ts';

/** Microseconds of one submission equal milliseconds of a thousand. */
const perThousand = (micros: number): string => (micros / 1_000).toFixed(2);

const latencyOf = ({ p50Ms, p95Ms, p99Ms }: Sample): string =>
  [p50Ms, p95Ms, p99Ms].map(figure).join(' / ');

const cpuOf = ({ totalCpuMicros, cpuMicros }: Sample): string => {
  const parts = Object.entries(cpuMicros).map(([name, micros]) => `${name} ${perThousand(micros)}`);
  return `${perThousand(totalCpuMicros)} (${parts.join(', ')})`;
};

function ratioRow(name: string, one: Sample, other: Sample): string[] {
  const of = (pick: (sample: Sample) => number) => ratio(pick(one), pick(other));
  return [
    name,
    of(({ perSecond }) => perSecond),
    [of((s) => s.p50Ms), of((s) => s.p95Ms), of((s) => s.p99Ms)].join(' / '),
    of(({ totalCpuMicros }) => totalCpuMicros),
  ];
}

/** A line for each shape and system, and a line with the first system divided by the second. */
export function shapesTable(results: readonly ShapeResult[], names: readonly string[]): string {
  const [one = '', other = ''] = names;
  const head = ['', 'a second', 'p50 / p95 / p99 ms', 'CPU-seconds per 1,000'];
  const rows = results.flatMap(({ name, medians }) => [
    ...medians.map((sample, index) => [
      `${name}: ${names[index]}`,
      figure(sample.perSecond),
      latencyOf(sample),
      cpuOf(sample),
    ]),
    ...(medians[0] === undefined || medians[1] === undefined
      ? []
      : [ratioRow(`${name}: ${one} / ${other}`, medians[0], medians[1])]),
  ]);
  return table(head, rows);
}

/** The highest share of wrong answers, so that the baseline's rate is not overrated. */
export function refusedLine(results: readonly ShapeResult[], names: readonly string[]): string {
  const shares = names.map((name, index) => {
    const samples = results.flatMap((result) => result.samples[index] ?? []);
    const refused = samples.reduce((sum, sample) => sum + sample.refused, 0);
    const created = samples.reduce((sum, sample) => sum + sample.created, 0);
    return `${name} ${((refused / (refused + created)) * 100).toFixed(2)} %`;
  });
  return (
    `Refused: ${shares.join(', ')} (tolerated: ${refusedShareMax * 100} % of a measurement; the baseline's 503 ` +
    'are jobs that `waitUntilFinished` missed).'
  );
}

/** From settlement to the acknowledged first attempt. */
export function notifiedTable(results: readonly ShapeResult[], names: readonly string[]): string {
  const rows = results.flatMap(({ name, medians }) =>
    medians.flatMap(({ notified }, index) =>
      notified === undefined
        ? []
        : [[`${name}: ${names[index]}`, figure(notified.p50Ms), figure(notified.p99Ms)]],
    ),
  );
  return table(['settled → first webhook acknowledged', 'p50 ms', 'p99 ms'], rows);
}

export function memoryTable(results: readonly ShapeResult[], names: readonly string[]): string {
  const peaks = names.map((_, index) => {
    const most = new Map<string, number>();
    for (const sample of results.flatMap((result) => result.samples[index] ?? []))
      for (const [name, mib] of Object.entries(sample.memoryMib))
        most.set(name, Math.max(mib, most.get(name) ?? 0));
    return most;
  });
  const processes = [...new Set(peaks.flatMap((most) => [...most.keys()]))];
  const rows = processes.map((name) => [
    name,
    ...peaks.map((most) => figure(Math.round(most.get(name) ?? Number.NaN))),
  ]);
  return table(['peak memory, MiB', ...names], rows);
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
  return table(['', 'a second', 'first after its start, ms', 'CPU-seconds per 1,000'], rows);
}

const cancelRow = (name: string, valuesMs: readonly number[]): string[] => [
  name,
  ...[0.5, 0.99, 1].map((share) => figure(quantile(valuesMs, share))),
];

export function cancelTable({ fromRequestMs, fromAnswerMs }: CancelLatencies): string {
  return table(
    [`cancel → node's frame, ${fromRequestMs.length} cancels`, 'p50 ms', 'p99 ms', 'worst ms'],
    [cancelRow('from the request', fromRequestMs), cancelRow('from its answer', fromAnswerMs)],
  );
}

const silenceRow = (name: string, valuesMs: readonly number[]): string[] => [
  name,
  `${valuesMs.length}`,
  ...[0, 0.5, 1].map((share) => figure(quantile(valuesMs, share) / 1_000)),
];

export function deadNodesTable({ noticedAfterMs, lostAfterMs }: DeadNodes): string {
  const rows = [silenceRow('the link is ended, the fleet without it', noticedAfterMs)];
  if (lostAfterMs.length > 0) rows.push(silenceRow('its run ended as `node_lost`', lostAfterMs));
  return table(['a node falls silent →', 'of', 'least s', 'median s', 'most s'], rows);
}

/** For every shape: rate, p50, p99 and CPU, each divided by the compared system's figure. */
export function ratiosLine(results: readonly ShapeResult[], to = 'the baseline'): string {
  const parts = results.flatMap(({ name, medians: [one, other] }) => {
    if (one === undefined || other === undefined) return [];
    const of = (pick: (sample: Sample) => number) => (pick(one) / pick(other)).toFixed(2);
    const rate = of(({ perSecond }) => perSecond);
    const p50 = of(({ p50Ms }) => p50Ms);
    const p99 = of(({ p99Ms }) => p99Ms);
    const cpu = of(({ totalCpuMicros }) => totalCpuMicros);
    return [`${name}: ${rate} × (p50 ${p50}, p99 ${p99}, CPU ${cpu})`];
  });
  return `ratios to ${to}: ${parts.join('; ')}`;
}
