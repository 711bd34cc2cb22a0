import { setTimeout as pause } from 'node:timers/promises';
import { announceService, createConsumer, redisIsReady, takeWakeUpTenants } from '@svc/queue';
import {
  createLifecycle,
  runPeriodically,
  missingDependencies,
  startAdminServer,
  systemClock,
  type Clock,
  type Logger,
  type Running,
} from '@svc/runtime';
import { ping, pruneReconcileFailures } from '@svc/store';
import type { WebhooksConfig } from './config.ts';
import { createWebhooksMetrics } from './metrics.ts';
import { openDeliverer } from './open-deliverer.ts';
import { createRecovery } from './recover.ts';

/** The pause between two wake-up jobs. The tenants of one job are claimed together. */
const wakeUpIntervalMs = 20;

const deadLettersIntervalMs = 60_000;

/**
 * Opens the deliverer's resources in order. `close` waits for running work and closes them in
 * reverse.
 */
export async function run(
  config: WebhooksConfig,
  { logger, clock = systemClock }: { readonly logger: Logger; readonly clock?: Clock },
): Promise<Running> {
  const lifecycle = createLifecycle(logger);
  try {
    const { registry: metrics, countAttempt, setDeadLetters } = createWebhooksMetrics();
    const opened = await openDeliverer(config, { lifecycle, logger, clock, countAttempt });
    const { deliverer, store, redis } = opened;
    const consumer = createConsumer({
      redisUrl: config.REDIS_URL,
      prefix: config.REDIS_PREFIX,
      queue: 'webhook',
      async handle({ tenantIds }) {
        const joined = await takeWakeUpTenants(redis, config.REDIS_PREFIX).catch(() => []);
        deliverer.wake([...tenantIds, ...joined]);
        // The next job waits meanwhile, so that more notified tenants join it.
        await pause(wakeUpIntervalMs);
      },
      logger,
    });
    lifecycle.add('consumer', () => consumer.close());
    const recovery = runPeriodically({
      name: 'recovery',
      intervalMs: config.RECONCILE_INTERVAL_MS,
      run: createRecovery({ ...opened, logger }),
      logger,
    });
    lifecycle.add('recovery', () => recovery.close());
    const deadLetters = runPeriodically({
      name: 'dead letters',
      intervalMs: deadLettersIntervalMs,
      run: async () => setDeadLetters(await pruneReconcileFailures(store, 'webhook')),
      logger,
    });
    lifecycle.add('dead letters', () => deadLetters.close());
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
    const presence = announceService({
      redis,
      prefix: config.REDIS_PREFIX,
      service: 'webhooks',
      logger,
    });
    lifecycle.add('presence', () => presence.close());
    return { adminPort: admin.port, close: () => lifecycle.close() };
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}
