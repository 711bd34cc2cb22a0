import { closeRedis, connectRedis, createProducer, guardRedis, waitForRedis } from '@svc/queue';
import {
  cannotStart,
  createOutboundHttp,
  type Clock,
  type Lifecycle,
  type Logger,
} from '@svc/runtime';
import type { AttemptVerdict } from '@svc/store';
import { backoffSecondsOf, type WebhooksConfig } from './config.ts';
import { requestsMax, type DeliverDeps } from './deliver.ts';
import { openStoreOrRefuse } from './open-store.ts';
import { createSlots } from './slots.ts';

/** Until Redis is there nothing is delivered; a start does not wait for it longer than this. */
const redisWaitMsMax = 2_000;

/** Opens what delivering needs, in order, each with its place in the lifecycle. */
export async function openDeliverer(
  config: WebhooksConfig,
  {
    lifecycle,
    logger,
    clock,
    countAttempt,
  }: {
    readonly lifecycle: Lifecycle;
    readonly logger: Logger;
    readonly clock: Clock;
    readonly countAttempt: (verdict: AttemptVerdict['kind']) => void;
  },
): Promise<DeliverDeps & { readonly redis: ReturnType<typeof connectRedis> }> {
  const backoffSeconds = backoffSecondsOf(config);
  const store = await openStoreOrRefuse(config, logger);
  lifecycle.add('store', () => store.close());
  const { REDIS_URL: redisUrl, SVC_ENVIRONMENT: environment } = config;
  const guard = await guardRedis({ redisUrl, environment, logger, refuse: cannotStart });
  lifecycle.add('redis guard', () => guard.close());
  const redis = connectRedis(redisUrl, 'producer', logger);
  lifecycle.add('redis', () => closeRedis(redis));
  const producer = createProducer({ redis, prefix: config.REDIS_PREFIX, logger });
  lifecycle.add('producer', () => producer.close());
  await waitForRedis(redis, redisWaitMsMax);
  const http = createOutboundHttp({
    allowPrivateNetworks: config.WEBHOOK_ALLOW_PRIVATE_NETWORKS === '1',
    monotonicMs: () => clock.monotonicMs(),
  });
  lifecycle.add('http', () => http.close());
  const slots = createSlots(requestsMax);
  const random = Math.random;
  return {
    store,
    redis,
    producer,
    http,
    slots,
    backoffSeconds,
    clock,
    random,
    logger,
    countAttempt,
  };
}
