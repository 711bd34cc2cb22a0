import { allServices, type MetricDefinition } from './definition.ts';

const queueConsumers = ['dispatcher', 'settlement', 'webhooks'] as const;
const queue = { queue: '`dispatch`, `settlement`, `webhook`' };

export const processMetrics = {
  svc_pool_connections: {
    type: 'gauge',
    services: allServices,
    scope: 'process',
    labels: { state: '`idle`, `busy`' },
    help: 'Connections to Postgres that this process has open',
  },
  svc_pool_connections_limit: {
    type: 'gauge',
    services: allServices,
    scope: 'process',
    labels: {},
    help: 'The most connections to Postgres that this process may open',
  },
  svc_pool_waiting: {
    type: 'gauge',
    services: allServices,
    scope: 'process',
    labels: {},
    help: 'Calls that wait for a connection to Postgres',
  },
  svc_store_batches_total: {
    type: 'counter',
    services: allServices,
    scope: 'process',
    labels: {},
    help: 'Batches of database calls that share a statement. A call that could share a statement but runs alone counts as a batch',
  },
  svc_store_batched_calls_total: {
    type: 'counter',
    services: allServices,
    scope: 'process',
    labels: {},
    help: 'Database calls that ran in batches. Divide by svc_store_batches_total to get the mean size of a batch',
  },
  svc_queue_jobs_in_progress: {
    type: 'gauge',
    services: queueConsumers,
    scope: 'process',
    labels: queue,
    help: 'Jobs that this process works on',
  },
  svc_queue_concurrency_limit: {
    type: 'gauge',
    services: queueConsumers,
    scope: 'process',
    labels: queue,
    help: 'The most jobs that this process works on at once',
  },
  svc_queue_job_duration_seconds: {
    type: 'histogram',
    services: queueConsumers,
    scope: 'process',
    labels: { ...queue, result: '`done`, `failed`' },
    help: 'Duration of each try of a job. The count is the number of tries',
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30],
  },
  svc_trace_spans_total: {
    type: 'counter',
    services: allServices,
    scope: 'process',
    labels: { result: '`exported`, `buffer_full`, `export_failed`' },
    help: 'Spans of traces, by result. Spans that were not exported are lost',
    onlyIf: 'traces are exported',
  },
} as const satisfies Record<string, MetricDefinition>;
