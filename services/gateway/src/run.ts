import { setTimeout as sleep } from 'node:timers/promises';
import {
  announceService,
  closeRedis,
  connectRedis,
  createDispatchEnqueuer,
  createProducer,
  createRateLimiter,
  createReplyListener,
  guardRedis,
  type ReplyListener,
} from '@svc/queue';
import {
  cannotStart,
  type Clock,
  createFailureLimit,
  createLifecycle,
  createMetrics,
  type Logger,
  newId,
  type Running,
  startAdminServer,
  systemClock,
} from '@svc/runtime';
import { rateCardOfVersion, type Store, typicalUsage } from '@svc/store';
import { createApp } from './app.ts';
import { assertConsistent, type GatewayConfig, tlsOf, tlsOnlyOf } from './config.ts';
import { endpointsOf } from './endpoints.ts';
import { startHttpServer } from './http/http-server.ts';
import { createKeys } from './access/keys.ts';
import { createRequestMetrics } from './metrics.ts';
import { openStoreOrRefuse } from './open-store.ts';
import { createPricing } from './pricing/pricing.ts';
import { missingForReads } from './health/readiness.ts';
import { currentSurgeMicros } from './pricing/surge.ts';

/** The longest that a start waits for Redis. Reads work without it. */
const redisWaitMsMax = 2_000;

/**
 * Opens the gateway's resources in order. `close` lets requests in flight finish and closes the
 * resources in reverse order.
 */
export async function run(
  config: GatewayConfig,
  { logger, clock = systemClock }: { readonly logger: Logger; readonly clock?: Clock },
): Promise<Running & { readonly port: number }> {
  assertConsistent(config);
  const tls = tlsOf(config);
  const tlsOnly = tlsOnlyOf(config);
  const lifecycle = createLifecycle(logger);
  const { REDIS_URL: redisUrl, REDIS_PREFIX: prefix, BIND_HOST: host } = config;
  try {
    const { store, requestHashKey } = await openStoreOrRefuse(config, logger);
    lifecycle.add('store', () => store.close());
    const environment = config.SVC_ENVIRONMENT;
    const guard = await guardRedis({ redisUrl, environment, logger, refuse: cannotStart });
    lifecycle.add('redis guard', () => guard.close());
    const redis = connectRedis(redisUrl, 'producer', logger);
    lifecycle.add('redis', () => closeRedis(redis));
    const producer = createProducer({ redis, prefix, logger });
    lifecycle.add('producer', () => producer.close());
    const replies = createReplyListener({ redisUrl, prefix, name: newId(), logger });
    lifecycle.add('replies', () => replies.close());
    await waitForReplies(replies, clock);
    const limiter = createRateLimiter({
      redis,
      prefix,
      monotonicMs: () => clock.monotonicMs(),
      logger,
    });
    const metrics = createMetrics('gateway');
    const listener = createApp({
      endpoints: endpointsOf({
        environment,
        allowPrivateNetworks: config.WEBHOOK_ALLOW_PRIVATE_NETWORKS === '1',
        signupsPerHour: config.SIGNUP_PER_HOUR,
        signupWebhookAttemptsPerHour: config.SIGNUP_WEBHOOK_ATTEMPTS_PER_HOUR,
        signupInFlightMax: config.SIGNUP_IN_FLIGHT_MAX,
        limiter,
        store,
        redis,
        redisPrefix: prefix,
        producer,
        enqueueDispatch: createDispatchEnqueuer(producer, {
          replyTo: replies.channel,
          nowMs: () => clock.nowMs(),
        }),
        replies,
        pricing: pricingOf(store, () => currentSurgeMicros(redis, prefix, logger), clock),
        requestHashKey,
        newId: store.newId,
        clock,
        logger,
      }),
      ...(config.TRUST_PROXY === undefined ? {} : { trustProxy: config.TRUST_PROXY }),
      ...(tlsOnly === undefined ? {} : { tlsOnly }),
      keys: createKeys(store, clock),
      limiter,
      failures: createFailureLimit({ clock }),
      observe: createRequestMetrics(metrics),
      newId,
      clock,
      logger,
    });
    const admin = await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      // Redis is not checked, because reads, cancels and balances work without it.
      ready: () => missingForReads(store),
      metrics,
      logger,
    });
    lifecycle.add('admin server', () => admin.close());
    const presence = announceService({ redis, prefix, service: 'gateway', logger });
    lifecycle.add('presence', () => presence.close());
    const server = await startHttpServer({
      host,
      port: config.GATEWAY_PORT,
      listener,
      newId,
      logger,
      tls,
    });
    lifecycle.add('http server', () => server.close());
    return { port: server.port, adminPort: admin.port, close: () => lifecycle.close() };
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

function pricingOf(store: Store, loadSurgeMicros: () => Promise<bigint>, clock: Clock) {
  return createPricing({
    loadRateCard: (version) => rateCardOfVersion(store, version),
    loadTypicalUsage: (jobType) => typicalUsage(store, jobType),
    loadSurgeMicros,
    clock,
  });
}

/**
 * Waits until the reply channel is subscribed. A creation whose reply comes before that waits a
 * second longer for its answer.
 */
async function waitForReplies(replies: ReplyListener, clock: Clock): Promise<void> {
  const giveUpAtMs = clock.monotonicMs() + redisWaitMsMax;
  while (!replies.isListening() && clock.monotonicMs() < giveUpAtMs) await sleep(10);
}
