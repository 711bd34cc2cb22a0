import type { ShapeResult } from '../parts/shapes.ts';
import { isHeld, type Percentiles, refusedShareMax, type Sample } from '../sample.ts';
import { figure, spread, table } from './markdown.ts';
import { latencyRatiosOf, ratiosOf } from './medians.ts';

/** CPU-seconds per 1,000 submissions, from CPU microseconds per submission. */
export const perThousand = (micros: number): string => (micros / 1_000).toFixed(2);

const head = [
  '',
  'a second',
  'post → `201`: p50 / p95 / p99 ms',
  'post → webhook: p50 / p95 / p99 ms',
  'CPU-seconds per 1,000',
  'WAL, KB',
  'wake-ups',
];

export function shapesTable(results: readonly ShapeResult[], names: readonly string[]): string {
  const rows = results.flatMap(({ name, medians, samples }) => [
    ...medians.map((sample, index) => [`${name}: ${names[index]}`, ...cellsOf(sample)]),
    ...names
      .slice(1)
      .map((other, index) => [
        `${name}: ${names[0]} / ${other}`,
        ...ratioCells(samples, index + 1),
      ]),
  ]);
  return table(head, rows);
}

function cellsOf(sample: Sample): string[] {
  return [
    rateOf(sample),
    latencyOf(sample.answered),
    latencyOf(sample.notified),
    withParts(sample.totalCpuMicros, sample.cpuMicros, perThousand),
    figure(sample.walBytes / 1_000),
    withParts(sample.totalWakeUps, sample.wakeUps, (count) => count.toFixed(1)),
  ];
}

function rateOf(sample: Sample): string {
  const { backlog } = sample;
  if (backlog === undefined || isHeld(sample)) return figure(sample.perSecond);
  const { unanswered, unnotified } = backlog;
  return `**not held**: ${figure(sample.perSecond)}, ${unanswered} requests without an answer and ${unnotified} submissions without a webhook at the end`;
}

const latencyOf = (latency: Percentiles | undefined): string =>
  latency === undefined
    ? ''
    : [latency.p50Ms, latency.p95Ms, latency.p99Ms].map(figure).join(' / ');

function withParts(
  total: number,
  parts: Readonly<Record<string, number>>,
  text: (value: number) => string,
): string {
  const some = Object.entries(parts).map(([name, value]) => `${name} ${text(value)}`);
  return `${text(total)} (${some.join(', ')})`;
}

function ratioCells(samples: ShapeResult['samples'], other: number): string[] {
  const of = (pick: (sample: Sample) => number): string => spread(ratiosOf(samples, pick, other));
  const latencies = (pick: (sample: Sample) => Percentiles | undefined): string =>
    (['p50Ms', 'p95Ms', 'p99Ms'] as const)
      .map((which) => (sample: Sample) => pick(sample)?.[which] ?? Number.NaN)
      .map((latencyMs) => spread(latencyRatiosOf(samples, latencyMs, other)))
      .join(' / ');
  const isLife = samples[0]?.[0]?.notified !== undefined;
  return [
    of(({ perSecond }) => perSecond),
    latencies(({ answered }) => answered),
    isLife ? latencies(({ notified }) => notified) : '',
    of(({ totalCpuMicros }) => totalCpuMicros),
    of(({ walBytes }) => walBytes),
    of(({ totalWakeUps }) => totalWakeUps),
  ];
}

/** The share of refused requests of each system, as a line of the report. */
export function refusedLine(results: readonly ShapeResult[], names: readonly string[]): string {
  const shares = names.map((name, index) => {
    const samples = results.flatMap((result) => result.samples[index] ?? []);
    const refused = samples.reduce((sum, sample) => sum + sample.refused, 0);
    const created = samples.reduce((sum, sample) => sum + sample.created, 0);
    return `${name} ${((refused / (refused + created)) * 100).toFixed(2)} %`;
  });
  return (
    `Refused: ${shares.join(', ')} (at most ${refusedShareMax * 100} % of a measurement may be refused). ` +
    'The baseline answers 503 if its gateway does not learn of the dispatch within 5 s.'
  );
}

export function firstWebhookTable(
  results: readonly ShapeResult[],
  names: readonly string[],
): string {
  const rows = results.flatMap(({ name, medians }) =>
    medians.flatMap(({ firstWebhook }, index) =>
      firstWebhook === undefined
        ? []
        : [[`${name}: ${names[index]}`, figure(firstWebhook.p50Ms), figure(firstWebhook.p99Ms)]],
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
