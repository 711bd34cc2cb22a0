import type { MetricDefinition } from './definition.ts';
import { figureMetrics } from './figure-metrics.ts';
import { moneyMetrics } from './money-metrics.ts';
import { processMetrics } from './process-metrics.ts';
import { serviceMetrics } from './service-metrics.ts';

/**
 * Every metric of the services, except the default metrics of Node.js. docs/METRICS.md is generated
 * from it.
 */
export const metricCatalogue = {
  ...processMetrics,
  ...serviceMetrics,
  ...moneyMetrics,
  ...figureMetrics,
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof metricCatalogue;

export type NameOf<Type extends MetricDefinition['type']> = {
  [Name in MetricName]: (typeof metricCatalogue)[Name]['type'] extends Type ? Name : never;
}[MetricName];

export type LabelsOf<Name extends MetricName> = Readonly<
  Record<keyof (typeof metricCatalogue)[Name]['labels'] & string, string>
>;
