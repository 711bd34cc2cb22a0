import type { MetricDefinition } from './definition.ts';

const shared = { services: ['settlement'], scope: 'shared', type: 'gauge' } as const;
const queue = '`dispatch`, `settlement`, `webhook`';
const inFlightState = '`pending`, `dispatched`, `running`, `settling`';

/**
 * The figures of the whole service. Each settlement process reads them from Postgres and Redis
 * every 15 seconds. A scrape reads memory only.
 */
export const figureMetrics = {
  svc_queue_jobs: {
    ...shared,
    labels: { queue, state: '`waiting`, `active`, `delayed`, `failed`' },
    help: 'Jobs in a queue',
  },
  svc_queue_oldest_age_seconds: {
    ...shared,
    labels: { queue },
    help: 'Age of the oldest waiting job, as far as known: only the first job of each priority is read; 0 if no job waits',
  },
  svc_queue_paused: {
    ...shared,
    labels: { queue },
    help: '1 if an operator has paused the queue, 0 otherwise',
  },
  svc_submissions_in_flight: {
    ...shared,
    labels: { state: inFlightState },
    help: 'Submissions that have not ended; only the 20,000 oldest of them are counted',
  },
  svc_submissions_oldest_age_seconds: {
    ...shared,
    labels: { state: inFlightState },
    help: 'Longest time that a submission has spent in this state, 0 if there is none; only the 20,000 oldest submissions count',
  },
  svc_held_credits: {
    ...shared,
    labels: {},
    help: 'Credits held for submissions that have not ended; only the 20,000 oldest submissions count',
  },
  svc_deliveries_due: {
    ...shared,
    labels: {},
    help: 'Due deliveries; only the oldest 20,000 to settings URLs and 20,000 to endpoints count',
  },
  svc_deliveries_oldest_due_age_seconds: {
    ...shared,
    labels: {},
    help: 'Longest time since one of the deliveries in `svc_deliveries_due` became due, 0 if there is none',
  },
  svc_fleet_nodes: {
    ...shared,
    labels: { state: '`seen` in the last day, `draining`, `disabled`, `quarantined`' },
    help: 'Nodes; one node can be in several of these states',
  },
  svc_fleet_slots: {
    ...shared,
    labels: { state: '`free`, `busy`' },
    help: 'Slots of the nodes that have a link and take offers',
  },
  svc_figures_read_timestamp_seconds: {
    ...shared,
    labels: { source: '`postgres`, `redis`' },
    help: 'Unix time at which the figures of this source were last read: alert if older than 2 minutes',
  },
  svc_figures_read_duration_seconds: {
    ...shared,
    labels: { source: '`postgres`, `redis`' },
    help: 'Duration of the last reading of the figures of this source',
  },
} as const satisfies Record<string, MetricDefinition>;
