import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** A registry with the metrics of the process. A service adds its own. */
export function createMetrics(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  // The default of 10 ms wakes an idle process a hundred times a second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
  return registry;
}

/** A counter with one label. Its values must be few and known in advance. */
export function createCounter(
  registry: Registry,
  { name, help, label }: { readonly name: string; readonly help: string; readonly label: string },
): (value: string, by?: number) => void {
  const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
  return (value, by = 1) => counter.inc({ [label]: value }, by);
}

/** A gauge: a value that can rise and fall. */
export function createGauge(
  registry: Registry,
  { name, help }: { readonly name: string; readonly help: string },
): (value: number) => void {
  const gauge = new Gauge({ name, help, registers: [registry] });
  return (value) => gauge.set(value);
}

/** A histogram of durations. The values of each label must be few and known in advance. */
export function createDurations<Label extends string>(
  registry: Registry,
  {
    name,
    help,
    labels,
    bucketsSeconds,
  }: {
    readonly name: string;
    readonly help: string;
    readonly labels: readonly Label[];
    readonly bucketsSeconds: readonly number[];
  },
): (values: Readonly<Record<Label, string>>, seconds: number) => void {
  const histogram = new Histogram({
    name,
    help,
    labelNames: [...labels],
    buckets: [...bucketsSeconds],
    registers: [registry],
  });
  return (values, seconds) => histogram.observe({ ...values }, seconds);
}
