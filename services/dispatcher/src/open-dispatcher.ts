import {
  closeRedis,
  connectRedis,
  createDispatcherBus,
  createFleetRegistry,
  createProducer,
  createReplier,
  guardRedis,
  waitForRedis,
} from '@svc/queue';
import { cannotStart, newId, type Clock, type Lifecycle, type Logger } from '@svc/runtime';

import { onBusMessage } from './bus-messages.ts';
import type { DispatcherConfig } from './config.ts';
import type { Dispatcher } from './dispatcher.ts';
import { createLinks } from './links/links.ts';
import { openStoreOrRefuse } from './open-store.ts';
import type { Timers } from './timers.ts';

/** The longest that a start waits for Redis. The nodes' runs go on without Redis. */
const redisWaitMsMax = 2_000;

/** Opens the resources of the dispatcher, and adds each to the lifecycle. */
export async function openDispatcher(
  config: DispatcherConfig,
  {
    lifecycle,
    logger,
    clock,
    timers,
    countBadFrame,
  }: {
    lifecycle: Lifecycle;
    logger: Logger;
    clock: Clock;
    timers: Timers;
    countBadFrame: Dispatcher['countBadFrame'];
  },
): Promise<{ dispatcher: Dispatcher; redis: ReturnType<typeof connectRedis> }> {
  const { REDIS_URL: redisUrl, REDIS_PREFIX: prefix } = config;
  const store = await openStoreOrRefuse(config, logger);
  lifecycle.add('store', () => store.close());
  const environment = config.SVC_ENVIRONMENT;
  const guard = await guardRedis({ redisUrl, environment, logger, refuse: cannotStart });
  lifecycle.add('redis guard', () => guard.close());
  const redis = connectRedis(redisUrl, 'producer', logger);
  lifecycle.add('redis', () => closeRedis(redis));
  await waitForRedis(redis, redisWaitMsMax);
  const producer = createProducer({ redis, prefix, logger });
  lifecycle.add('producer', () => producer.close());
  const id = newId();
  const bus = createDispatcherBus({
    redis,
    redisUrl,
    prefix,
    dispatcherId: id,
    onMessage: (message) => onBusMessage(dispatcher, message),
    logger,
  });
  lifecycle.add('bus', () => bus.close());
  const dispatcher: Dispatcher = {
    id,
    store,
    producer,
    fleet: createFleetRegistry({ redis, prefix }),
    bus,
    reply: createReplier(redis),
    links: createLinks(),
    offerings: new Map(),
    clock,
    timers,
    logger,
    isSandbox: environment === 'sandbox',
    countBadFrame,
  };
  // Listens before it accepts links, so that it receives offers for its own nodes.
  await bus.listening(redisWaitMsMax);
  return { dispatcher, redis };
}
