import type { RatePolicy } from '@svc/domain';
import { createConsumer, pingRedis } from '@svc/queue';
import {
  connectionLimitsOf,
  createFailureLimit,
  missingDependencies,
  openResources,
  systemClock,
  type Clock,
  type Logger,
  type Running,
} from '@svc/runtime';
import { createJobDurations, exposeConsumer, hasMasterKeys, openAdmin } from '@svc/startup';
import { ping } from '@svc/store';
import { startBackgroundWork } from './background-work.ts';
import { assertConsistent, proxiesOf, tlsOf, type DispatcherConfig } from './config.ts';
import { handBackLinks } from './drain.ts';
import { startFleetRefresh } from './fleet/fleet-member.ts';
import { createDispatcherMetrics } from './metrics.ts';
import { takeDispatch } from './offering/take-dispatch.ts';
import { openDispatcher } from './open-dispatcher.ts';
import { systemTimers, type Timers } from './timers.ts';
import { startLinkServer } from './wire/link-server.ts';
import { openLink } from './wire/node-link.ts';
import { decideUpgrade } from './wire/upgrade.ts';

interface RunOptions {
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly timers?: Timers;
  readonly refusedUpgrades?: RatePolicy;
}

/** Starts the dispatcher. Its `close` closes the resources in the reverse order of opening. */
export async function run(
  config: DispatcherConfig,
  { logger, clock = systemClock, timers = systemTimers, refusedUpgrades }: RunOptions,
): Promise<Running & { readonly port: number }> {
  assertConsistent(config);
  const tls = tlsOf(config);
  const { REDIS_URL: redisUrl, REDIS_PREFIX: prefix, BIND_HOST: host } = config;
  return await openResources(logger, async (lifecycle) => {
    const metrics = createDispatcherMetrics();
    const opening = { service: 'dispatcher', config, lifecycle, logger } as const;
    const given = { config, clock, timers, metrics };
    const { dispatcher, redis } = await openDispatcher(opening, given);
    metrics.exposeDispatcher(dispatcher);
    const { store, bus } = dispatcher;
    const failures = createFailureLimit({
      clock,
      ...(refusedUpgrades === undefined ? {} : { policy: refusedUpgrades }),
    });
    const proxies = proxiesOf(config);
    const isTlsOnly = config.SVC_ENVIRONMENT === 'production' && config.TRUST_PROXY !== undefined;
    const upgrading = { store, clock, failures, proxies, isTlsOnly };
    const links = await startLinkServer({
      host,
      port: config.NODE_LINK_PORT,
      tls,
      connections: connectionLimitsOf(config),
      proxies,
      decide: (request) => decideUpgrade(request, upgrading),
      open: (transport, node) => openLink(dispatcher, transport, node),
      clock,
      logger,
    });
    lifecycle.own('link server', links);
    lifecycle.own('fleet', await startFleetRefresh(dispatcher));
    lifecycle.add('links', () => handBackLinks(dispatcher));
    const handle = takeDispatch.bind(undefined, dispatcher);
    const queue = 'dispatch';
    const consumer = createConsumer({
      redisUrl,
      prefix,
      queue,
      concurrency: config.DISPATCH_CONCURRENCY,
      handle,
      logger,
      observe: createJobDurations(metrics.registry, queue),
    });
    exposeConsumer(metrics.registry, queue, consumer);
    lifecycle.own('consumer', consumer);
    lifecycle.add('link listener', () => links.stopListening());
    startBackgroundWork(dispatcher, { redis, prefix, lifecycle, metrics });
    const ready = () =>
      missingDependencies({
        postgres: () => ping(store),
        masterKey: () => hasMasterKeys(store),
        redis: () => pingRedis(redis),
        bus: () => bus.isListening(),
        queue: () => consumer.isPolling(),
      });
    const admin = { redis, store, metrics: metrics.registry, ready, tls };
    const adminPort = await openAdmin(opening, admin);
    return { port: links.port, adminPort };
  });
}
