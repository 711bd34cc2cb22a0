import { Redis } from 'ioredis';
import { clusterConnector } from './cluster-connector.ts';
import { addressOf, clusterOf } from './redis-address.ts';

/** The logger methods that this package needs. A pino logger fits. */
export interface QueueLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * - `producer`: sends commands for a caller that waits, so it fails fast.
 * - `worker`: polls and blocks forever, so it waits until Redis is back.
 * - `subscriber`: receives messages, and subscribes again after a reconnect.
 */
export type RedisRole = 'producer' | 'worker' | 'subscriber';

export const producerCommandTimeoutMs = 2_000;
const connectTimeoutMs = 5_000;
const reconnectDelayMsMax = 1_000;
/**
 * The socket of a producer or subscriber is replaced if it answers no command for this long.
 * Otherwise a socket whose packets are silently dropped would stay open for a quarter of an hour.
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
   * A key or its hash tag. In a cluster the connection goes to the server that owns the hash slot
   * of this key. The connection then serves only keys and channels of that hash slot. Required if
   * the URL names a cluster.
   */
  readonly clusterKey?: string;
}

/**
 * The errors after which the connection leaves its server. They mean that the server is a replica,
 * does not own the hash slot of `clusterKey`, or belongs to a cluster that does not work.
 */
const leavingErrors = ['READONLY', 'MOVED', 'CLUSTERDOWN'];

/**
 * Opens a connection that reconnects forever and never ends the process. Returns at once;
 * `waitForRedis` waits until it is usable. The caller closes it with `closeRedis`.
 *
 * While Redis is unreachable, a command of a producer fails at once. It is not kept to be sent
 * later, because Postgres has the work and the reconcilers find it.
 *
 * In a cluster every connection is one socket to the owner of a slot (decision 46). Throws if `url`
 * names a cluster and `clusterKey` is missing.
 */
export function connectRedis(
  url: string,
  role: RedisRole,
  logger?: QueueLogger,
  { connectionName, clusterKey }: RedisConnectionOptions = {},
): Redis {
  const redis = open(url, optionsOf(role, connectionName), clusterKey);
  redis.on('error', (error: Error) => {
    logger?.warn({ err: error, role }, 'redis connection error');
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
      'a connection to a Redis Cluster needs a clusterKey, whose slot decides the server',
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
 * Sends a command every `subscriberPingMs` to notice a dead socket. In a cluster, the command also
 * notices that another server owns the hash slot of `clusterKey`: the answer is then `MOVED`, so
 * the connection moves to the new owner (`leavingErrors`). It must move, because a `PUBLISH` at the
 * new owner does not count subscribers at the old one.
 */
function keepPinging(redis: Redis, clusterKey: string | undefined): void {
  const timer = setInterval(() => {
    if (!redisIsReady(redis)) return;
    const answer = clusterKey === undefined ? redis.ping() : redis.exists(clusterKey);
    answer.catch(() => {});
  }, subscriberPingMs);
  timer.unref();
  redis.once('end', () => clearInterval(timer));
}

/**
 * Rejects if Redis does not answer. An open socket alone does not prove that Redis answers. `redis`
 * must have the role `producer`: only this role limits the time of a command.
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
 * The prefix of every key except `svc:environment`, as a hash tag. The braces put all keys with
 * this prefix into one hash slot of a Redis Cluster. The scripts of BullMQ and of the fleet
 * registry need this.
 */
export function keyPrefix(prefix: string): string {
  return `{${prefix}}`;
}
