import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** A registry of the process's own figures; a service adds its own to it. */
export function createMetrics(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Counts, by one label. The values of the label must be few and known. */
export function createCounter(
  registry: Registry,
  { name, help, label }: { readonly name: string; readonly help: string; readonly label: string },
): (value: string, by?: number) => void {
  const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
  return (value, by = 1) => counter.inc({ [label]: value }, by);
}

/** A figure that goes up and down. */
export function createGauge(
  registry: Registry,
  { name, help }: { readonly name: string; readonly help: string },
): (value: number) => void {
  const gauge = new Gauge({ name, help, registers: [registry] });
  return (value) => gauge.set(value);
}

/** Durations by labels, each of whose values must be few and known; its count counts. */
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
