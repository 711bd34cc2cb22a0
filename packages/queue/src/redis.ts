import { Redis } from 'ioredis';
import { clusterConnector } from './cluster-connector.ts';
import { addressOf, clusterOf } from './redis-address.ts';
import { wrongRedisUrl } from './wrong-redis-url.ts';

/** The logger methods that this package needs. A pino logger fits. */
export interface QueueLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * - `producer`: fails fast, because a caller waits.
 * - `worker`: takes jobs in a loop, so its commands wait until Redis is back.
 * - `subscriber`: subscribes again after a reconnect.
 */
export type RedisRole = 'producer' | 'worker' | 'subscriber';

export const producerCommandTimeoutMs = 2_000;
const connectTimeoutMs = 5_000;
const reconnectDelayMsMax = 1_000;
/**
 * The socket of a producer or subscriber is replaced if a command waits and no data arrives for
 * this long. Otherwise a dead socket would stay open for a quarter of an hour.
 */
const socketTimeoutMs = 3_000;
/** A subscriber sends a command at this interval. Otherwise it would not notice a dead socket. */
const subscriberPingMs = 2_000;
/**
 * The socket timeout of a worker. It is longer than BullMQ's longest blocking read (10 s), so that
 * only a dead socket times out.
 */
const workerSocketTimeoutMs = 30_000;

export interface RedisConnectionOptions {
  /** The name of the connection in `CLIENT LIST`. */
  readonly connectionName?: string;
  /**
   * A key or its hash tag. Required in a cluster: the connection goes to the server that owns the
   * hash slot of this key. Use the connection only for keys of this slot.
   */
  readonly clusterKey?: string;
}

/**
 * The connection reconnects after these errors: the server is a replica, does not own the hash
 * slot, or belongs to a cluster that does not work.
 */
const leavingErrors = ['READONLY', 'MOVED', 'CLUSTERDOWN'];

/**
 * Opens a connection that reconnects forever. `waitForRedis` waits until it is usable, and
 * `closeRedis` closes it. Throws if `url` names a cluster but `clusterKey` is missing.
 */
export function connectRedis(
  url: string,
  role: RedisRole,
  logger?: QueueLogger,
  { connectionName, clusterKey }: RedisConnectionOptions = {},
): Redis {
  const redis = open(url, optionsOf(role, connectionName), clusterKey);
  redis.on('error', (error: Error) => {
    const fault = wrongRedisUrl(error);
    const detail = fault === undefined ? { err: error } : { fault };
    logger?.warn({ ...detail, role }, 'redis connection error');
  });
  if (role === 'subscriber')
    keepPinging(redis, clusterOf(url) === undefined ? undefined : clusterKey);
  return redis;
}

function optionsOf(role: RedisRole, connectionName: string | undefined) {
  const common = {
    ...(connectionName === undefined ? {} : { connectionName }),
    connectTimeout: connectTimeoutMs,
    retryStrategy: (attempt: number) =>
      Math.min(50 * 2 ** Math.min(attempt, 10), reconnectDelayMsMax),
    reconnectOnError: ({ message }: Error) =>
      leavingErrors.some((code) => message.startsWith(code)),
  };
  return role === 'producer'
    ? {
        ...common,
        // Without a connection to Redis, a command fails at once. A job is not kept for later,
        // because a reconciler finds its work in Postgres.
        enableOfflineQueue: false,
        maxRetriesPerRequest: 1,
        commandTimeout: producerCommandTimeoutMs,
        socketTimeout: socketTimeoutMs,
      }
    : {
        ...common,
        maxRetriesPerRequest: null,
        socketTimeout: role === 'worker' ? workerSocketTimeoutMs : socketTimeoutMs,
      };
}

function open(
  url: string,
  options: ReturnType<typeof optionsOf>,
  clusterKey: string | undefined,
): Redis {
  const cluster = clusterOf(url);
  if (cluster === undefined) {
    const address = addressOf(url);
    return 'url' in address
      ? new Redis(address.url, options)
      : new Redis({ ...options, ...address.options });
  }
  if (clusterKey === undefined)
    throw new Error(
      'a connection to a Redis Cluster needs a clusterKey, whose hash slot decides the server',
    );
  const { username, password, isEncrypted } = cluster;
  return new Redis({
    ...options,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    // The connector opens the TLS socket. `tls` makes ioredis wait for the end of the handshake.
    ...(isEncrypted ? { tls: {} } : {}),
    Connector: clusterConnector(cluster, clusterKey),
  });
}

/**
 * Sends a command every `subscriberPingMs`, so that a dead socket or a moved hash slot is noticed
 * (decision 46).
 */
function keepPinging(redis: Redis, clusterKey: string | undefined): void {
  const timer = setInterval(() => {
    if (!redisIsReady(redis)) return;
    // If the hash slot of `clusterKey` has moved, `exists` fails with `MOVED`, and the connection
    // reconnects.
    const answer = clusterKey === undefined ? redis.ping() : redis.exists(clusterKey);
    answer.catch(() => {});
  }, subscriberPingMs);
  timer.unref();
  redis.once('end', () => clearInterval(timer));
}

/**
 * Rejects if Redis does not answer. `redis` must have the role `producer`, because only this role
 * limits the time of a command.
 */
export async function pingRedis(redis: Redis): Promise<void> {
  await redis.ping();
}

export function redisIsReady(redis: Redis): boolean {
  return redis.status === 'ready';
}

/**
 * Waits until the connection is usable. Returns false if the connection is still not usable after
 * `timeoutMs`.
 */
export async function waitForRedis(redis: Redis, timeoutMs: number): Promise<boolean> {
  if (redisIsReady(redis)) return true;
  return await new Promise<boolean>((resolve) => {
    const onReady = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    const timer = setTimeout(() => {
      redis.off('ready', onReady);
      resolve(false);
    }, timeoutMs);
    redis.once('ready', onReady);
  });
}

/**
 * Returns a function that tells what is wrong with the URL of `redis`: the first `wrongRedisUrl` of
 * its errors.
 */
export function watchForWrongUrl(redis: Redis): () => string | undefined {
  let fault: string | undefined;
  redis.on('error', (error: Error) => {
    fault ??= wrongRedisUrl(error);
  });
  return () => fault;
}

/** Closes a connection at once, even if Redis is unreachable. */
export async function closeRedis(redis: Redis): Promise<void> {
  if (redis.status === 'end') return;
  if (redis.status === 'reconnecting') {
    // Between two attempts to connect, no socket exists, so no `end` event follows.
    redis.disconnect();
    return;
  }
  const ended = new Promise<void>((resolve) => {
    redis.once('end', () => resolve());
  });
  redis.disconnect();
  await ended;
}

/**
 * The prefix of every key except `svc:environment`. It is a hash tag, so that all these keys are in
 * one hash slot of a cluster (decision 46).
 */
export function keyPrefix(prefix: string): string {
  return `{${prefix}}`;
}
