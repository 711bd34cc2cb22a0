import { setTimeout as sleep } from 'node:timers/promises';
import {
  createDispatchEnqueuer,
  createRateLimiter,
  createReplyListener,
  type ReplyListener,
} from '@svc/queue';
import {
  type Clock,
  connectionLimitsOf,
  createFailureLimit,
  createMetrics,
  type Lifecycle,
  type Logger,
  newId,
  openResources,
  type Running,
  systemClock,
} from '@svc/runtime';
import { isDispatchProof } from '@svc/signing';
import {
  openAdmin,
  type Opening,
  openRedis,
  openServiceTracing,
  openStoreOrRefuse,
  redisWaitMsMax,
} from '@svc/startup';
import {
  findPolledNews,
  loadTypedClient,
  rateCardOfVersion,
  type Store,
  typicalUsage,
} from '@svc/store';
import { createKeyUses } from './access/key-uses.ts';
import { createKeys } from './access/keys.ts';
import { createApp } from './app.ts';
import { assertConsistent, type GatewayConfig, isTlsOnly, proxiesOf, tlsOf } from './config.ts';
import { endpointsOf } from './endpoints.ts';
import { missingForReads } from './health/readiness.ts';
import { createBodyBudget } from './http/body-budget.ts';
import { startHttpServer } from './http/http-server.ts';
import { createRequestLines } from './http/request-lines.ts';
import { countTamperedKeys, createRequestMetrics } from './metrics.ts';
import { createPricing } from './pricing/pricing.ts';
import { currentSurgeMicros } from './pricing/surge.ts';
import { openRail } from './purchase-intents/rail.ts';
import {
  type AwaitedEvents,
  createEventWaiters,
  type EventWaiters,
} from './webhook-endpoints/event-waiters.ts';

/**
 * Starts a gateway. Its `close` first ends all waits for events and payments, then gives the
 * requests in flight up to 8 s to finish.
 */
export async function run(
  config: GatewayConfig,
  { logger, clock = systemClock }: { readonly logger: Logger; readonly clock?: Clock },
): Promise<Running & { readonly port: number }> {
  assertConsistent(config);
  const tls = tlsOf(config);
  const proxies = proxiesOf(config);
  const { REDIS_URL: redisUrl, REDIS_PREFIX: prefix, SVC_ENVIRONMENT: environment } = config;
  return await openResources(logger, async (lifecycle) => {
    const opening = { service: 'gateway', config, lifecycle, logger } as const;
    const { store, requestHashKey } = await openStoreOrRefuse(opening);
    const { redis, producer } = await openRedis(opening);
    await loadTypedClient(store);
    const isProof = (id: string, proof: string) => isDispatchProof(requestHashKey, id, proof);
    const replies = createReplyListener({ redisUrl, prefix, name: newId(), isProof, logger });
    lifecycle.own('replies', replies);
    await waitForReplies(replies, clock);
    const monotonicMs = () => clock.monotonicMs();
    const limiter = createRateLimiter({ redis, prefix, monotonicMs, logger });
    const { metrics, tracing } = openWatching(opening, store, clock);
    const access = { ...openKeys(lifecycle, { store, clock, logger, metrics }), limiter };
    const rail = await openRail(config, { store, logger, clock });
    const eventWaiters = eventWaitersOf(store, { monotonicMs, logger });
    const requestLines = openRequestLines(lifecycle, config, { clock, logger });
    const logging = { newId, logger, requestLines };
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
        enqueueDispatch: createDispatchEnqueuer(producer, enqueuing(replies, clock)),
        replies,
        pricing: pricingOf(store, () => currentSurgeMicros(redis, prefix, logger), clock),
        requestHashKey,
        eventWaiters,
        rail,
        keyUses: access.keyUses,
        newId: store.newId,
        clock,
        tracing,
        logger,
      }),
      proxies,
      bodyBudget: createBodyBudget(config.UNAUTHENTICATED_BODY_BYTES),
      isTlsOnly: isTlsOnly(config),
      ...access,
      ...createRequestMetrics(metrics),
      clock,
      tracing,
      ...logging,
    });
    // The admin port's `/ready` does not check Redis, because reads, cancels and balances work
    // without Redis.
    const ready = () => missingForReads(store);
    const adminPort = await openAdmin(opening, { redis, store, metrics, ready, tls });
    const serving = { listener, ...logging, tls, proxies };
    const server = await startHttpServer({ ...addressOf(config), ...serving });
    lifecycle.own('http server', server);
    lifecycle.own('event waiters', eventWaiters);
    if (rail !== null) lifecycle.own('intent waiters', rail.waiters);
    return { port: server.port, adminPort };
  });
}

function openRequestLines(
  lifecycle: Lifecycle,
  { REQUEST_LINES_PER_SECOND: perSecondMax }: GatewayConfig,
  rest: { readonly clock: Clock; readonly logger: Logger },
) {
  return lifecycle.own('request lines', createRequestLines({ perSecondMax, ...rest }));
}

function openWatching(opening: Opening, store: Store, clock: Clock) {
  const metrics = createMetrics('gateway');
  return { metrics, tracing: openServiceTracing(opening, { store, metrics, clock }) };
}

function addressOf(config: GatewayConfig) {
  return {
    host: config.BIND_HOST,
    port: config.GATEWAY_PORT,
    connections: connectionLimitsOf(config),
  };
}

const enqueuing = ({ channel }: ReplyListener, clock: Clock) => ({
  replyTo: channel,
  nowMs: () => clock.nowMs(),
});

function eventWaitersOf(
  store: Store,
  rest: { readonly monotonicMs: () => number; readonly logger: Logger },
): EventWaiters {
  const findNews = (awaited: readonly AwaitedEvents[]) => findPolledNews(store, awaited);
  return createEventWaiters({ findNews, ...rest });
}

function openKeys(
  lifecycle: Lifecycle,
  options: {
    readonly store: Store;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly metrics: ReturnType<typeof createMetrics>;
  },
) {
  const { clock } = options;
  const keyUses = createKeyUses(options);
  lifecycle.own('key uses', keyUses);
  return {
    keys: createKeys({ ...options, onTampered: countTamperedKeys(options.metrics) }),
    keyUses,
    failures: createFailureLimit({ clock }),
  };
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
 * Waits at most `redisWaitMsMax` until this gateway has subscribed to its reply channel. Replies
 * sent before that are lost. Their tenants get their answers up to 1 s late.
 */
async function waitForReplies(replies: ReplyListener, clock: Clock): Promise<void> {
  const giveUpAtMs = clock.monotonicMs() + redisWaitMsMax;
  while (!replies.isListening() && clock.monotonicMs() < giveUpAtMs) await sleep(10);
}
