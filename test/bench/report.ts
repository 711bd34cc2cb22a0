import type { Sample } from './measure.ts';

export interface Result {
  readonly name: string;
  readonly product: Sample;
  readonly floor: Sample;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Each figure's median of its own. */
export function medianOf(samples: readonly Sample[]): Sample {
  const of = (figure: (sample: Sample) => number) => median(samples.map(figure));
  const processes = Object.keys(samples[0]?.cpuMicros ?? {});
  return {
    perSecond: of(({ perSecond }) => perSecond),
    refused: of(({ refused }) => refused),
    p50Ms: of(({ p50Ms }) => p50Ms),
    p95Ms: of(({ p95Ms }) => p95Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
    cpuMicros: Object.fromEntries(
      processes.map((name) => [name, of(({ cpuMicros }) => cpuMicros[name] ?? 0)]),
    ),
    cpuMicrosAll: of(({ cpuMicrosAll }) => cpuMicrosAll),
  };
}

function line(system: string, sample: Sample): string {
  const { perSecond, p50Ms, p95Ms, p99Ms, cpuMicros, cpuMicrosAll } = sample;
  const latency = [p50Ms, p95Ms, p99Ms].map((ms) => ms.toFixed(1)).join(' / ');
  const cpu = Object.entries(cpuMicros).map(([of, micros]) => `${of} ${Math.round(micros)}`);
  return `  ${system.padEnd(8)}${Math.round(perSecond)}/s, ${latency} ms, CPU ${Math.round(cpuMicrosAll)} µs (${cpu.join(', ')})`;
}

export function describe({ name, product, floor }: Result): string {
  return [name, line('product', product), line('floor', floor)].join('\n');
}

/** Of every shape: rate, p50, p99 and CPU of the product, each divided by the floor's. */
export function ratiosOf(results: readonly Result[]): string {
  const parts = results.map(({ name, product, floor }) => {
    const ratio = (figure: (sample: Sample) => number) =>
      (figure(product) / figure(floor)).toFixed(2);
    const rate = ratio(({ perSecond }) => perSecond);
    const p50 = ratio(({ p50Ms }) => p50Ms);
    const p99 = ratio(({ p99Ms }) => p99Ms);
    const cpu = ratio(({ cpuMicrosAll }) => cpuMicrosAll);
    return `${name}: ${rate} × (p50 ${p50}, p99 ${p99}, CPU ${cpu})`;
  });
  return `ratios to the floor: ${parts.join('; ')}`;
}
