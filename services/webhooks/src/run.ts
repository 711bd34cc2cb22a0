import { createConsumer, redisIsReady } from '@svc/queue';
import {
  createLifecycle,
  every,
  missingDependencies,
  startAdminServer,
  systemClock,
  type Clock,
  type Logger,
  type Running,
} from '@svc/runtime';
import { ping } from '@svc/store';
import type { WebhooksConfig } from './config.ts';
import { deliver } from './deliver.ts';
import { createWebhooksMetrics } from './metrics.ts';
import { openDeliverer } from './open-deliverer.ts';
import { recover } from './recover.ts';

/** Opens the deliverer's resources in order; `close` lets what runs finish and closes in reverse. */
export async function run(
  config: WebhooksConfig,
  { logger, clock = systemClock }: { readonly logger: Logger; readonly clock?: Clock },
): Promise<Running> {
  const lifecycle = createLifecycle(logger);
  try {
    const { registry: metrics, countAttempt } = createWebhooksMetrics();
    const deliverer = await openDeliverer(config, { lifecycle, logger, clock, countAttempt });
    const consumer = createConsumer({
      redisUrl: config.REDIS_URL,
      prefix: config.REDIS_PREFIX,
      queue: 'webhook',
      handle: ({ deliveryIds }, { signal }) => deliver(deliverer, deliveryIds, signal),
      logger,
    });
    lifecycle.add('consumer', () => consumer.close());
    const recovery = every({
      name: 'recovery',
      intervalMs: config.RECONCILE_INTERVAL_MS,
      run: () => recover(deliverer),
      logger,
    });
    lifecycle.add('recovery', () => recovery.close());
    const admin = await startAdminServer({
      host: config.BIND_HOST,
      port: config.ADMIN_PORT,
      ready: () =>
        missingDependencies({
          postgres: () => ping(deliverer.store),
          redis: () => redisIsReady(deliverer.redis),
          queue: () => consumer.isPolling(),
        }),
      metrics,
      logger,
    });
    lifecycle.add('admin server', () => admin.close());
    return { adminPort: admin.port, close: () => lifecycle.close() };
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}
