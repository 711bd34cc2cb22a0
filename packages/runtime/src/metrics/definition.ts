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
   * `process`: each process has its own value, so processes are added. `shared`: each process shows
   * the same value of the whole service, so the largest counts.
   */
  readonly scope: 'process' | 'shared';
  /** The values of each label, for the documentation. They are few and known in advance. */
  readonly labels: Readonly<Record<string, string>>;
  readonly help: string;
  /** The upper bounds of a histogram, in its unit. */
  readonly buckets?: readonly number[];
  /** The condition under which it exists. Omitted if it always exists. */
  readonly onlyIf?: string;
}
