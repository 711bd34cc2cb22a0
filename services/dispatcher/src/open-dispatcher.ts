import {
  createDispatcherBus,
  createFleetRegistry,
  createReplier,
  waitForRedis,
  type connectRedis,
} from '@svc/queue';
import { newId, type Clock } from '@svc/runtime';
import { dispatchProof } from '@svc/signing';
import {
  openRedis,
  openServiceTracing,
  openStoreOrRefuse,
  redisWaitMsMax,
  type Opening,
} from '@svc/startup';
import { onBusMessage } from './bus-messages.ts';
import type { DispatcherConfig } from './config.ts';
import type { Dispatcher } from './dispatcher.ts';
import { createLinks } from './links/links.ts';
import type { DispatcherMetrics } from './metrics.ts';
import type { Timers } from './timers.ts';

export async function openDispatcher(
  opening: Opening,
  {
    config,
    clock,
    timers,
    metrics,
  }: {
    config: DispatcherConfig;
    clock: Clock;
    timers: Timers;
    metrics: DispatcherMetrics;
  },
): Promise<{ dispatcher: Dispatcher; redis: ReturnType<typeof connectRedis> }> {
  const { REDIS_URL: redisUrl, REDIS_PREFIX: prefix } = config;
  const { lifecycle, logger } = opening;
  const { store, requestHashKey } = await openStoreOrRefuse(opening, {
    usageCapFactor: config.USAGE_CAP_FACTOR,
    jobs: { variable: 'DISPATCH_CONCURRENCY', jobsMax: config.DISPATCH_CONCURRENCY },
  });
  const { redis, producer } = await openRedis(opening);
  await waitForRedis(redis, redisWaitMsMax);
  const tracing = openServiceTracing(opening, { store, metrics: metrics.registry, clock });
  const id = newId();
  const bus = createDispatcherBus({
    redis,
    redisUrl,
    prefix,
    dispatcherId: id,
    onMessage: (message) => onBusMessage(dispatcher, message),
    logger,
  });
  lifecycle.own('bus', bus);
  const dispatcher: Dispatcher = {
    id,
    store,
    producer,
    fleet: createFleetRegistry({ redis, prefix }),
    bus,
    reply: createReplier(redis),
    proveDispatched: (submissionId) => dispatchProof(requestHashKey, submissionId),
    links: createLinks(),
    offerings: new Map(),
    clock,
    timers,
    tracing,
    logger,
    isSandbox: config.SVC_ENVIRONMENT === 'sandbox',
    ...metrics.observer,
  };
  // Before its subscription to the bus, this dispatcher gets no offers from other dispatchers. If
  // the subscription takes longer than `redisWaitMsMax`, the dispatcher starts anyway.
  await bus.listening(redisWaitMsMax);
  return { dispatcher, redis };
}
