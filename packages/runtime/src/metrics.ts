import { collectDefaultMetrics, Registry } from 'prom-client';

/** A registry of the process's own figures; a service adds its own to it. */
export function createMetrics(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  return registry;
}
