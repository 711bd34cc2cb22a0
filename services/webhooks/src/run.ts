import { setTimeout as pause } from 'node:timers/promises';
import { takeWakeUpTenants } from '@svc/queue';
import { type Clock, type Logger, openResources, type Running, systemClock } from '@svc/runtime';
import { startWorker } from '@svc/startup';
import type { WebhooksConfig } from './config.ts';
import { createWebhooksMetrics } from './metrics.ts';
import { openDeliverer } from './open-deliverer.ts';
import { createRecovery } from './recover.ts';
import { createWakeUpPace } from './wake-up-pace.ts';

/**
 * Starts the service. Its `close` closes the resources in reverse order of opening, and waits for
 * running work. `close` resolves after 10 s at the latest.
 */
export function run(
  config: WebhooksConfig,
  { logger, clock = systemClock }: { readonly logger: Logger; readonly clock?: Clock },
): Promise<Running> {
  return openResources(logger, async (lifecycle) => {
    const opening = { service: 'webhooks', config, lifecycle, logger } as const;
    const webhooksMetrics = createWebhooksMetrics();
    const { registry: metrics, countAttempt, timeAttempt, setDeadLetters } = webhooksMetrics;
    const observing = { countAttempt, timeAttempt, metrics };
    const opened = await openDeliverer(opening, { config, clock, ...observing });
    webhooksMetrics.exposeDeliverer(opened.deliverer);
    const { deliverer, store, redis } = opened;
    const pace = createWakeUpPace(() => clock.monotonicMs());
    return await startWorker(opening, {
      store,
      redis,
      queue: 'webhook',
      async handle({ tenantIds }) {
        const joined = await takeWakeUpTenants(redis, config.REDIS_PREFIX).catch(() => []);
        deliverer.wake([...tenantIds, ...joined]);
        // During the pause this process takes no wake-up job. Meanwhile more tenants can join the
        // job that waits in the queue.
        const pauseMs = pace.pauseMs(tenantIds.length + joined.length);
        if (pauseMs > 0) await pause(pauseMs);
      },
      reconcile: createRecovery({ ...opened, logger }),
      reconcilers: ['webhook'],
      setDeadLetters,
      metrics,
    });
  });
}
