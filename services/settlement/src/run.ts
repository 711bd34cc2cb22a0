import {
  announceService,
  closeRedis,
  connectRedis,
  createConsumer,
  createProducer,
  guardRedis,
  redisIsReady,
  waitForRedis,
} from '@svc/queue';
import {
  cannotStart,
  createLifecycle,
  runPeriodically,
  missingDependencies,
  startAdminServer,
  type Logger,
  type Running,
} from '@svc/runtime';
import { ping, pruneReconcileFailures } from '@svc/store';
import type { SettlementConfig } from './config.ts';
import { startAuditHead } from './audit-head.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createSettlementMetrics } from './metrics.ts';
import { openStoreOrRefuse } from './open-store.ts';
import { reconcile, type ReconcileProgress } from './reconcile.ts';
import { settleSubmissions } from './settle.ts';

/** A start waits at most this long for Redis, because the reconciler works without it. */
const redisWaitMsMax = 2_000;

const deadLettersIntervalMs = 60_000;

/**
 * Opens the worker's resources in order. `close` waits for running work and closes them in reverse.
 */
export async function run(
  config: SettlementConfig,
  { logger }: { readonly logger: Logger },
): Promise<Running> {
  const lifecycle = createLifecycle(logger);
  const { REDIS_URL: redisUrl, REDIS_PREFIX: prefix } = config;
  try {
    const { registry: metrics, ...counters } = createSettlementMetrics();
    const store = await openStoreOrRefuse(config, logger);
    lifecycle.add('store', () => store.close());
    const retentionDays = config.PAYLOAD_RETENTION_DAYS;
    await startHousekeeping({ store, logger, retentionDays, ...counters }, lifecycle);
    startAuditHead({ store, logger, ...counters }, lifecycle);
    const environment = config.SVC_ENVIRONMENT;
    const guard = await guardRedis({ redisUrl, environment, logger, refuse: cannotStart });
    lifecycle.add('redis guard', () => guard.close());
    const redis = connectRedis(redisUrl, 'producer', logger);
    lifecycle.add('redis', () => closeRedis(redis));
    const producer = createProducer({ redis, prefix, logger });
    lifecycle.add('producer', () => producer.close());
    await waitForRedis(redis, redisWaitMsMax);
    const deps = { store, producer, logger, redis, redisPrefix: prefix, ...counters };
    const progress: ReconcileProgress = { after: null };
    const reconciler = runPeriodically({
      name: 'reconciler',
      intervalMs: config.RECONCILE_INTERVAL_MS,
      run: () => reconcile(deps, progress),
      logger,
    });
    lifecycle.add('reconciler', () => reconciler.close());
    const deadLetters = runPeriodically({
      name: 'dead letters',
      intervalMs: deadLettersIntervalMs,
      run: async () => {
        const unsettled = await pruneReconcileFailures(store, 'settlement');
        const unpurged = await pruneReconcileFailures(store, 'purge');
        counters.setDeadLetters(unsettled + unpurged);
      },
      logger,
    });
    lifecycle.add('dead letters', () => deadLetters.close());
    const consumer = createConsumer({
      redisUrl,
      prefix,
      queue: 'settlement',
      handle: ({ submissionIds }) => settleSubmissions(deps, submissionIds),
      logger,
    });
    lifecycle.add('consumer', () => consumer.close());
    const admin = await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      ready: () =>
        missingDependencies({
          postgres: () => ping(store),
          redis: () => redisIsReady(redis),
          queue: () => consumer.isPolling(),
        }),
      metrics,
      logger,
    });
    lifecycle.add('admin server', () => admin.close());
    const presence = announceService({ redis, prefix, service: 'settlement', logger });
    lifecycle.add('presence', () => presence.close());
    return { adminPort: admin.port, close: () => lifecycle.close() };
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}
