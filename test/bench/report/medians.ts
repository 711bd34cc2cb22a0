import type { Sample } from '../measure.ts';
import { median } from '../quantile.ts';

/** The median of each figure by itself. Memory is the last value. */
export function medianOf(samples: readonly Sample[]): Sample {
  const of = (figure: (sample: Sample) => number) => median(samples.map(figure));
  const last = samples.at(-1);
  const notified = samples.flatMap((sample) => sample.notified ?? []);
  return {
    perSecond: of(({ perSecond }) => perSecond),
    created: of(({ created }) => created),
    refused: of(({ refused }) => refused),
    p50Ms: of(({ p50Ms }) => p50Ms),
    p95Ms: of(({ p95Ms }) => p95Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
    ...(notified.length === 0
      ? {}
      : {
          notified: {
            p50Ms: median(notified.map(({ p50Ms }) => p50Ms)),
            p99Ms: median(notified.map(({ p99Ms }) => p99Ms)),
          },
        }),
    cpuMicros: Object.fromEntries(
      Object.keys(last?.cpuMicros ?? {}).map((name) => [
        name,
        of(({ cpuMicros }) => cpuMicros[name] ?? 0),
      ]),
    ),
    totalCpuMicros: of(({ totalCpuMicros }) => totalCpuMicros),
    memoryMib: last?.memoryMib ?? {},
  };
}
