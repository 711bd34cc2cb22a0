import {
  createFleetRegistry,
  type connectRedis,
  queueKeys,
  readQueueStatus,
  redisIsReady,
} from '@svc/queue';
import {
  type Clock,
  createLabelledGauge,
  type createMetrics,
  type Lifecycle,
  type Logger,
  runUntilClosed,
} from '@svc/runtime';
import { readServiceFigures, type Store } from '@svc/store';

/**
 * The interval of reads. A scrape shows the figures of the last read, so more scrapes do not cause
 * more reads.
 */
const figuresIntervalMs = 15_000;

export interface FiguresDeps {
  readonly store: Store;
  readonly redis: ReturnType<typeof connectRedis>;
  readonly redisPrefix: string;
  readonly registry: ReturnType<typeof createMetrics>;
  readonly clock: Clock;
}

/**
 * Each settlement process reads all figures, so the figures stay complete while another settlement
 * process is down.
 */
export async function startFigures(
  deps: FiguresDeps & { readonly logger: Logger },
  lifecycle: Lifecycle,
): Promise<void> {
  const { logger } = deps;
  const read = createFigures(deps);
  await read().catch((error: unknown) =>
    logger.warn({ err: error }, 'could not read the figures for the shared metrics'),
  );
  runUntilClosed(lifecycle, {
    name: 'service figures',
    intervalMs: figuresIntervalMs,
    run: read,
    logger,
  });
}

/**
 * The returned function sets the metrics from Postgres and from Redis. If one of these cannot be
 * read, the function sets the metrics of the other, then rejects.
 */
function createFigures(deps: FiguresDeps): () => Promise<void> {
  const { registry, clock } = deps;
  const setReadAt = createLabelledGauge(registry, 'svc_figures_read_timestamp_seconds');
  const setDuration = createLabelledGauge(registry, 'svc_figures_read_duration_seconds');
  const sources = { postgres: createStoreFigures(deps), redis: createRedisFigures(deps) };

  async function read(source: 'postgres' | 'redis'): Promise<void> {
    const startedMs = clock.monotonicMs();
    await sources[source]();
    setDuration({ source }, (clock.monotonicMs() - startedMs) / 1000);
    setReadAt({ source }, clock.nowMs() / 1000);
  }

  return async () => {
    const outcomes = await Promise.allSettled([read('postgres'), read('redis')]);
    const errors = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    if (errors.length > 0)
      throw new AggregateError(errors, 'some shared metrics could not be read');
  };
}

function createStoreFigures({ store, registry }: FiguresDeps): () => Promise<void> {
  const setInFlight = createLabelledGauge(registry, 'svc_submissions_in_flight');
  const setOldest = createLabelledGauge(registry, 'svc_submissions_oldest_age_seconds');
  const setHeld = createLabelledGauge(registry, 'svc_held_credits');
  const setDue = createLabelledGauge(registry, 'svc_deliveries_due');
  const setOldestDue = createLabelledGauge(registry, 'svc_deliveries_oldest_due_age_seconds');
  const setNodes = createLabelledGauge(registry, 'svc_fleet_nodes');
  return async () => {
    const figures = await readServiceFigures(store);
    for (const { state, count, oldestAgeSeconds } of figures.submissions) {
      setInFlight({ state }, count);
      setOldest({ state }, oldestAgeSeconds);
    }
    setHeld({}, figures.heldCredits);
    setDue({}, figures.deliveriesDue);
    setOldestDue({}, figures.oldestDueAgeSeconds);
    for (const [state, count] of Object.entries(figures.nodes)) setNodes({ state }, count);
  };
}

function createRedisFigures({ redis, redisPrefix, registry }: FiguresDeps): () => Promise<void> {
  const setJobs = createLabelledGauge(registry, 'svc_queue_jobs');
  const setOldest = createLabelledGauge(registry, 'svc_queue_oldest_age_seconds');
  const setPaused = createLabelledGauge(registry, 'svc_queue_paused');
  const setSlots = createLabelledGauge(registry, 'svc_fleet_slots');
  const fleet = createFleetRegistry({ redis, prefix: redisPrefix });
  return async () => {
    if (!redisIsReady(redis)) throw new Error('settlement is not connected to Redis');
    const [statuses, { slots, free }] = await Promise.all([
      readQueueStatus(redis, redisPrefix),
      fleet.capacity(),
    ]);
    for (const [index, status] of statuses.entries()) {
      const queue = queueKeys[index] ?? status.queue;
      for (const state of ['waiting', 'active', 'delayed', 'failed'] as const) {
        setJobs({ queue, state }, status[state]);
      }
      setOldest({ queue }, (status.oldestWaitingMs ?? 0) / 1000);
      setPaused({ queue }, Number(status.paused));
    }
    setSlots({ state: 'free' }, free);
    setSlots({ state: 'busy' }, Math.max(0, slots - free));
  };
}
