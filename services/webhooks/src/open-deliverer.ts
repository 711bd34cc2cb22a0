import {
  closeRedis,
  connectRedis,
  createProducer,
  guardRedis,
  waitForRedis,
  type Producer,
} from '@svc/queue';
import {
  cannotStart,
  createOutboundHttp,
  type Clock,
  type Lifecycle,
  type Logger,
} from '@svc/runtime';
import type { AttemptVerdict, Store } from '@svc/store';
import { backoffSecondsOf, type WebhooksConfig } from './config.ts';
import { Deliverer } from './deliverer.ts';
import { openStoreOrRefuse } from './open-store.ts';

/** A start waits at most this long for Redis. Due deliveries are found without it. */
const redisWaitMsMax = 2_000;

export interface OpenedDeliverer {
  readonly deliverer: Deliverer;
  readonly store: Store;
  readonly producer: Producer;
  readonly redis: ReturnType<typeof connectRedis>;
}

/** Opens the deliverer's dependencies in order and registers each in the lifecycle. */
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
): Promise<OpenedDeliverer> {
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
  const deliverer = new Deliverer({
    store,
    http,
    backoffSeconds,
    clock,
    random: Math.random,
    logger,
    countAttempt,
    endpointRequestsMax: config.WEBHOOK_ENDPOINT_REQUESTS,
  });
  lifecycle.add('deliverer', () => deliverer.close());
  return { deliverer, store, producer, redis };
}
