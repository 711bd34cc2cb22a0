import type { RatePolicy } from '@svc/domain';
import { announceService, createConsumer } from '@svc/queue';
import {
  createFailureLimit,
  createLifecycle,
  startAdminServer,
  systemClock,
  type Clock,
  type Logger,
  type Running,
} from '@svc/runtime';

import { assertConsistent, proxiesOf, tlsOf, type DispatcherConfig } from './config.ts';
import { handBackLinks, leaveFleet } from './drain.ts';
import { startFleetRefresh } from './fleet/fleet-member.ts';
import { startLinkServer } from './wire/link-server.ts';
import { createDispatcherMetrics } from './metrics.ts';
import { openLink } from './wire/node-link.ts';
import { openDispatcher } from './open-dispatcher.ts';
import { missingDependencies } from './readiness.ts';
import { startBackgroundWork } from './background-work.ts';
import { takeDispatch } from './offering/take-dispatch.ts';
import { systemTimers, type Timers } from './timers.ts';
import { decideUpgrade } from './wire/upgrade.ts';

interface RunOptions {
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly timers?: Timers;
  /** Limits the refused upgrades from one address. The default is generous. */
  readonly refusedUpgrades?: RatePolicy;
}

/** Opens the dispatcher's resources in order. `close` drains, then closes them in reverse order. */
export async function run(
  config: DispatcherConfig,
  { logger, clock = systemClock, timers = systemTimers, refusedUpgrades }: RunOptions,
): Promise<Running & { readonly port: number }> {
  assertConsistent(config);
  const lifecycle = createLifecycle(logger);
  const { REDIS_URL: redisUrl, REDIS_PREFIX: prefix, BIND_HOST: host } = config;
  try {
    const metrics = createDispatcherMetrics();
    const { countBadFrame } = metrics;
    const given = { lifecycle, logger, clock, timers, countBadFrame };
    const { dispatcher, redis } = await openDispatcher(config, given);
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
      tls: tlsOf(config),
      decide: (request) => decideUpgrade(request, upgrading),
      open: (transport, node) => openLink(dispatcher, transport, node),
      clock,
      logger,
    });
    lifecycle.add('link server', () => links.close());
    lifecycle.add('links', () => handBackLinks(dispatcher));
    const handle = takeDispatch.bind(undefined, dispatcher);
    const consumer = createConsumer({ redisUrl, prefix, queue: 'dispatch', handle, logger });
    lifecycle.add('consumer', () => consumer.close());
    const refresh = await startFleetRefresh(dispatcher);
    lifecycle.add('fleet', async () => {
      links.stopListening();
      await refresh.close();
      leaveFleet(dispatcher);
    });
    startBackgroundWork(dispatcher, { redis, prefix, lifecycle, metrics });
    const admin = await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      ready: () => missingDependencies({ store, redis, bus, consumer }),
      metrics: metrics.registry,
      logger,
    });
    lifecycle.add('admin server', () => admin.close());
    const presence = announceService({ redis, prefix, service: 'dispatcher', logger });
    lifecycle.add('presence', () => presence.close());
    return { port: links.port, adminPort: admin.port, close: () => lifecycle.close() };
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}
