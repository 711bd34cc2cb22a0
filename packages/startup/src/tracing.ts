import { type Clock, createCounter, type createMetrics, systemClock } from '@svc/runtime';
import { findTraceContexts, type Store, storeTraceContext } from '@svc/store';
import { noTracing, openTracing, ratioOf, type Tracing } from '@svc/tracing';
import type { Opening } from './opening.ts';

const samplerDefault = 'parentbased_traceidratio';
const ratioDefault = '0.01';

/**
 * Opens the tracing of a service. It is off unless `OTEL_EXPORTER_OTLP_ENDPOINT` is set. By default
 * it traces 1 % of the submissions.
 */
export function openServiceTracing(
  { service, config, lifecycle, logger }: Opening,
  {
    store,
    metrics,
    clock = systemClock,
  }: {
    readonly store: Store;
    readonly metrics: ReturnType<typeof createMetrics>;
    readonly clock?: Clock;
  },
): Tracing {
  const {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_TRACES_SAMPLER: sampler = samplerDefault,
    OTEL_TRACES_SAMPLER_ARG: argument = ratioDefault,
  } = config;
  if (endpoint === undefined) return noTracing;
  const tracing = openTracing({
    endpoint,
    service,
    environment: config.SVC_ENVIRONMENT,
    ratio: ratioOf(sampler, argument),
    clock,
    random: Math.random,
    storeContext: (submissionId, context) => storeTraceContext(store, submissionId, context),
    loadContexts: (submissionIds) => findTraceContexts(store, submissionIds),
    countSpans: createCounter(metrics, 'svc_trace_spans_total'),
    onFailure: (error) => logger.warn({ err: error }, 'could not record or export traces'),
  });
  return lifecycle.own('tracing', tracing);
}
