import { X509Certificate } from 'node:crypto';
import {
  announceService,
  closeRedis,
  connectRedis,
  createLogLevelFollower,
  createProducer,
  guardRedis,
  keyPrefix,
  logLevelAppliedWithinMs,
  type Producer,
  type ServiceFacts,
} from '@svc/queue';
import {
  type AdminServerOptions,
  assertLimitsAgree,
  cannotStart,
  changeLogLevel,
  type CommonConfig,
  ConfigError,
  type JobLimit,
  type Lifecycle,
  type Logger,
  newId,
  runUntilClosed,
  startAdminServer,
  systemClock,
  wrongConfigurationStatus,
} from '@svc/runtime';
import { createSealer, openKeyring, SealError } from '@svc/signing';
import { buildFacts, openReadyStore, type Store } from '@svc/store';
import { announceKeys } from './master-keys.ts';
import { exposeStore } from './process-metrics.ts';

export type RetentionFacts = Pick<ServiceFacts, 'retentionDays' | 'usageDays' | 'deliveryDays'>;

/**
 * The service whose resources are opened. Each resource is registered in `lifecycle`, which closes
 * it.
 */
export interface Opening {
  readonly service: 'gateway' | 'dispatcher' | 'settlement' | 'webhooks';
  readonly config: CommonConfig;
  readonly lifecycle: Lifecycle;
  readonly logger: Logger;
}

/**
 * Opens the store and the key of request hashes. Throws `CannotStart` if the database cannot be
 * used, with status 2 if a variable is wrong (CONTRACT 9), and `ConfigError`.
 */
export async function openStoreOrRefuse(
  { service, config, lifecycle, logger }: Opening,
  { jobs, ...options }: { readonly usageCapFactor?: string; readonly jobs?: JobLimit } = {},
): Promise<{ readonly store: Store; readonly requestHashKey: Uint8Array }> {
  assertLimitsAgree(config, jobs);
  const opened = await openReadyStore({
    databaseUrl: config.DATABASE_URL,
    environment: config.SVC_ENVIRONMENT,
    refusesAsyncStandby:
      config.SVC_ENVIRONMENT === 'production' && config.DATABASE_ALLOW_ASYNC_STANDBY === '0',
    sealer: sealerOf(config),
    newId,
    poolMax: config.DATABASE_POOL_MAX,
    connectTimeoutMs: config.DATABASE_CONNECT_TIMEOUT_MS,
    answerTimeoutMs: config.DATABASE_ANSWER_TIMEOUT_MS,
    batchMax: config.DATABASE_BATCH_MAX,
    applicationName: service,
    onConnectionError: (error) => logger.warn({ err: error }, 'a connection to Postgres failed'),
    ...options,
  });
  if (opened.kind === 'misconfigured') return refuse(opened.reason);
  if (opened.kind === 'refused') return cannotStart(opened.reason);
  lifecycle.own('store', opened.store);
  await announceKeys(opened.store, { service, lifecycle, logger });
  return opened;
}

const refuse = (reason: string): never => cannotStart(reason, wrongConfigurationStatus);

function sealerOf({ SVC_MASTER_KEY: keys }: CommonConfig): ReturnType<typeof createSealer> {
  try {
    return createSealer(openKeyring(keys));
  } catch (error) {
    throw error instanceof SealError ? new ConfigError(error.message, { cause: error }) : error;
  }
}

/**
 * The longest wait for a connection or a subscription to Redis. After this time, a service starts
 * anyway, because a part of its work does not need Redis.
 */
export const redisWaitMsMax = 2_000;

/**
 * Throws `CannotStart` with status 2 if REDIS_URL is wrong or of the other environment (CONTRACT 9).
 * If Redis does not answer, `guardRedis` checks the environment later.
 */
export async function openRedis({
  config,
  lifecycle,
  logger,
}: Opening): Promise<{ redis: ReturnType<typeof connectRedis>; producer: Producer }> {
  const { REDIS_URL: redisUrl, REDIS_PREFIX: prefix, SVC_ENVIRONMENT: environment } = config;
  const guard = await guardRedis({ redisUrl, environment, logger, refuse });
  lifecycle.own('redis guard', guard);
  const redis = connectRedis(redisUrl, 'producer', logger, { clusterKey: keyPrefix(prefix) });
  lifecycle.add('redis', () => closeRedis(redis));
  const producer = lifecycle.own('producer', createProducer({ redis, prefix, logger }));
  return { redis, producer };
}

/**
 * Opens the admin server and returns its port. Also announces the service in Redis, and follows the
 * log level that an operator sets.
 */
export async function openAdmin(
  { service, config, lifecycle, logger }: Opening,
  {
    redis,
    store,
    facts,
    tls = null,
    ...options
  }: Pick<AdminServerOptions, 'ready' | 'metrics'> & {
    readonly redis: ReturnType<typeof connectRedis>;
    readonly store: Store;
    readonly facts?: RetentionFacts;
    /** The certificate that the service itself presents. Null, the default, if there is none. */
    readonly tls?: { readonly cert: string } | null;
  },
): Promise<number> {
  const { ADMIN_HOST: host, ADMIN_PORT: port, REDIS_PREFIX: prefix } = config;
  exposeStore(options.metrics, store);
  const admin = await startAdminServer({ host, port, logger, ...options });
  lifecycle.own('admin server', admin);
  lifecycle.own(
    'presence',
    announceService({
      redis,
      prefix,
      service,
      facts: {
        ...buildFacts(),
        poolMax: config.DATABASE_POOL_MAX,
        ...facts,
        ...certificateFacts(tls),
      },
      logger,
    }),
  );
  runUntilClosed(lifecycle, {
    name: 'log level',
    intervalMs: logLevelAppliedWithinMs,
    run: createLogLevelFollower({
      redis,
      prefix,
      service,
      monotonicMs: () => systemClock.monotonicMs(),
      apply: (level) => changeLogLevel(logger, level),
      logger,
    }),
    logger,
  });
  return admin.port;
}

function certificateFacts(
  tls: { readonly cert: string } | null,
): Pick<ServiceFacts, 'certificateExpiresAt'> {
  if (tls === null) return {};
  return { certificateExpiresAt: new X509Certificate(tls.cert).validToDate.toISOString() };
}
