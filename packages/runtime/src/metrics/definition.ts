export type MetricService = 'gateway' | 'dispatcher' | 'settlement' | 'webhooks';

export const allServices: readonly MetricService[] = [
  'gateway',
  'dispatcher',
  'settlement',
  'webhooks',
];

/** A metric of the catalogue. Names, units and labels follow the conventions of Prometheus. */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly services: readonly MetricService[];
  /**
   * `process`: each process has its own value, and a query adds them. `shared`: each process shows
   * a value of the whole service, and a query takes the largest.
   */
  readonly scope: 'process' | 'shared';
  /**
   * The labels by name, each with a text about its values for the documentation. The values are few
   * and known in advance.
   */
  readonly labels: Readonly<Record<string, string>>;
  readonly help: string;
  /** The upper bounds of a histogram's buckets, in the unit of the metric. */
  readonly buckets?: readonly number[];
  /** The condition under which the metric exists. Omitted if it always exists. */
  readonly onlyIf?: string;
}
