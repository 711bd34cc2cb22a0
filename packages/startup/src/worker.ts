import type { JobOf, QueueKey } from '@svc/contracts';
import { type connectRedis, createConsumer, pingRedis } from '@svc/queue';
import { type AdminServerOptions, runUntilClosed, missingDependencies } from '@svc/runtime';
import { ping, pruneReconcileFailures, type ReconcilerName, type Store } from '@svc/store';
import { hasMasterKeys } from './master-keys.ts';
import { openAdmin, type Opening, type RetentionFacts } from './opening.ts';
import { createJobDurations, exposeConsumer } from './process-metrics.ts';

const deadLettersIntervalMs = 60_000;

export interface Worker<K extends QueueKey> {
  readonly store: Store;
  readonly redis: ReturnType<typeof connectRedis>;
  readonly queue: K;
  readonly handle: (job: JobOf[K]) => Promise<void>;
  /**
   * One pass of the reconciler. Each pass begins `RECONCILE_INTERVAL_MS` after the end of the
   * previous one.
   */
  readonly reconcile: () => Promise<void>;
  readonly reconcilers: readonly ReconcilerName[];
  readonly setDeadLetters: (count: number) => void;
  readonly metrics: AdminServerOptions['metrics'];
  readonly facts?: RetentionFacts;
  /** The most jobs in progress at once. Default: the concurrency in the catalogue of queues. */
  readonly concurrency?: number;
  /**
   * Returns the reason why a part of the worker does nothing, or null. If there is a reason, the
   * worker is not ready.
   */
  readonly problem?: () => string | null;
}

export async function startWorker<K extends QueueKey>(
  opening: Opening,
  worker: Worker<K>,
): Promise<{ readonly adminPort: number }> {
  const { store, redis, queue, handle, reconcile, reconcilers, setDeadLetters, metrics } = worker;
  const { config, lifecycle, logger } = opening;
  const { REDIS_URL: redisUrl, REDIS_PREFIX: prefix, RECONCILE_INTERVAL_MS: intervalMs } = config;
  runUntilClosed(lifecycle, { name: 'reconciler', intervalMs, run: reconcile, logger });
  runUntilClosed(lifecycle, {
    name: 'dead letters',
    intervalMs: deadLettersIntervalMs,
    async run() {
      let count = 0;
      for (const name of reconcilers) count += await pruneReconcileFailures(store, name);
      setDeadLetters(count);
    },
    logger,
  });
  const consumer = createConsumer({
    redisUrl,
    prefix,
    queue,
    handle,
    logger,
    observe: createJobDurations(metrics, queue),
    ...(worker.concurrency === undefined ? {} : { concurrency: worker.concurrency }),
  });
  exposeConsumer(metrics, queue, consumer);
  lifecycle.own('consumer', consumer);
  const ready = async () => {
    const missing = await missingDependencies({
      postgres: () => ping(store),
      masterKey: () => hasMasterKeys(store),
      redis: () => pingRedis(redis),
      queue: () => consumer.isPolling(),
    });
    const problem = worker.problem?.() ?? null;
    return problem === null ? missing : [...missing, problem];
  };
  const { facts } = worker;
  const admin = { redis, store, metrics, ready, ...(facts === undefined ? {} : { facts }) };
  return { adminPort: await openAdmin(opening, admin) };
}
