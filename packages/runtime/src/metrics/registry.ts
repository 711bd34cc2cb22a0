import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type LabelsOf, metricCatalogue, type MetricName, type NameOf } from './catalogue.ts';
import type { MetricDefinition, MetricService } from './definition.ts';

export function createMetrics(service: MetricService): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  // `eventLoopMonitoringPrecision` is the sampling interval in ms. The default of 10 would wake an
  // idle process a hundred times a second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
  return registry;
}

function settingsOf(registry: Registry, name: MetricName) {
  const { help, labels }: MetricDefinition = metricCatalogue[name];
  return { name, help, labelNames: Object.keys(labels), registers: [registry] };
}

/**
 * Creates a counter with one label. The returned function adds `by` for one value of that label.
 */
export function createCounter(
  registry: Registry,
  name: NameOf<'counter'>,
): (value: string, by?: number) => void {
  const settings = settingsOf(registry, name);
  const [label = ''] = settings.labelNames;
  const counter = new Counter(settings);
  return (value, by = 1) => counter.inc({ [label]: value }, by);
}

/** A counter without labels whose total is read at each scrape. `read` must only read memory. */
export function exposeCounter(
  registry: Registry,
  name: NameOf<'counter'>,
  read: () => number,
): void {
  const counter: Counter = new Counter({
    ...settingsOf(registry, name),
    collect() {
      counter.reset();
      counter.inc(read());
    },
  });
}

export function createGauge(registry: Registry, name: NameOf<'gauge'>): (value: number) => void {
  const gauge = new Gauge(settingsOf(registry, name));
  return (value) => gauge.set(value);
}

export function createLabelledGauge<Name extends NameOf<'gauge'>>(
  registry: Registry,
  name: Name,
): (labels: LabelsOf<Name>, value: number) => void {
  const gauge = new Gauge(settingsOf(registry, name));
  return (labels, value) => gauge.set({ ...labels }, value);
}

/**
 * Adds a gauge. Each scrape calls `read`, which sets the gauge's values. `read` must not read
 * anything except memory.
 */
export function exposeGauge<Name extends NameOf<'gauge'>>(
  registry: Registry,
  name: Name,
  read: (set: (labels: LabelsOf<Name>, value: number) => void) => void,
): void {
  const gauge: Gauge = new Gauge({
    ...settingsOf(registry, name),
    collect() {
      read((labels, value) => gauge.set({ ...labels }, value));
    },
  });
}

export function createDurations<Name extends NameOf<'histogram'>>(
  registry: Registry,
  name: Name,
): (labels: LabelsOf<Name>, seconds: number) => void {
  const { buckets } = metricCatalogue[name];
  const histogram = new Histogram({ ...settingsOf(registry, name), buckets: [...buckets] });
  return (labels, seconds) => histogram.observe({ ...labels }, seconds);
}
