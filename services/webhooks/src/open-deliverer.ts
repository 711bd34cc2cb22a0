import { type connectRedis, type Producer, waitForRedis } from '@svc/queue';
import { type Clock, createOutboundHttp } from '@svc/runtime';
import { type Opening, openRedis, openStoreOrRefuse, redisWaitMsMax } from '@svc/startup';
import type { AttemptVerdict, Store } from '@svc/store';
import { backoffSecondsOf, type WebhooksConfig } from './config.ts';
import { Deliverer } from './deliverer.ts';

export interface OpenedDeliverer {
  readonly deliverer: Deliverer;
  readonly store: Store;
  readonly producer: Producer;
  readonly redis: ReturnType<typeof connectRedis>;
}

/** Opens the deliverer's dependencies in order and registers each in the lifecycle. */
export async function openDeliverer(
  opening: Opening,
  {
    config,
    clock,
    countAttempt,
  }: {
    readonly config: WebhooksConfig;
    readonly clock: Clock;
    readonly countAttempt: (verdict: AttemptVerdict['kind']) => void;
  },
): Promise<OpenedDeliverer> {
  const { lifecycle, logger } = opening;
  const backoffSeconds = backoffSecondsOf(config);
  const { store } = await openStoreOrRefuse(opening);
  const { redis, producer } = await openRedis(opening);
  await waitForRedis(redis, redisWaitMsMax);
  const http = createOutboundHttp({
    allowPrivateNetworks: config.WEBHOOK_ALLOW_PRIVATE_NETWORKS === '1',
    monotonicMs: () => clock.monotonicMs(),
  });
  lifecycle.own('http', http);
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
  lifecycle.own('deliverer', deliverer);
  return { deliverer, store, producer, redis };
}
