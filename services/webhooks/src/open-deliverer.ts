import { type connectRedis, type Producer, waitForRedis } from '@svc/queue';
import { type Clock, type createMetrics, createOutboundHttp, deniedCidrsOf } from '@svc/runtime';
import {
  type Opening,
  openRedis,
  openServiceTracing,
  openStoreOrRefuse,
  redisWaitMsMax,
} from '@svc/startup';
import type { Store } from '@svc/store';
import type { AttemptDeps } from './attempt.ts';
import { backoffSecondsOf, requestLimitsOf, type WebhooksConfig } from './config.ts';
import { Deliverer } from './deliverer.ts';

export interface OpenedDeliverer {
  readonly deliverer: Deliverer;
  readonly store: Store;
  readonly producer: Producer;
  readonly redis: ReturnType<typeof connectRedis>;
}

export async function openDeliverer(
  opening: Opening,
  {
    config,
    clock,
    countAttempt,
    timeAttempt,
    metrics,
  }: Pick<AttemptDeps, 'countAttempt' | 'timeAttempt'> & {
    readonly config: WebhooksConfig;
    readonly clock: Clock;
    readonly metrics: ReturnType<typeof createMetrics>;
  },
): Promise<OpenedDeliverer> {
  const { lifecycle, logger } = opening;
  const backoffSeconds = backoffSecondsOf(config);
  const limits = requestLimitsOf(config);
  const deniedCidrs = deniedCidrsOf(config);
  const jobs = { variable: 'WEBHOOK_REQUESTS_MAX', jobsMax: limits.requestsMax };
  const { store } = await openStoreOrRefuse(opening, { jobs });
  const tracing = openServiceTracing(opening, { store, metrics, clock });
  const { redis, producer } = await openRedis(opening);
  await waitForRedis(redis, redisWaitMsMax);
  const http = createOutboundHttp({
    allowPrivateNetworks: config.WEBHOOK_ALLOW_PRIVATE_NETWORKS === '1',
    deniedCidrs,
    monotonicMs: () => clock.monotonicMs(),
  });
  lifecycle.own('http', http);
  const deliverer = new Deliverer({
    store,
    http,
    backoffSeconds,
    clock,
    random: Math.random,
    tracing,
    logger,
    countAttempt,
    timeAttempt,
    ...limits,
  });
  lifecycle.own('deliverer', deliverer);
  return { deliverer, store, producer, redis };
}
