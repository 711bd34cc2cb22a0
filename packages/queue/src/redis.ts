import { Redis } from 'ioredis';

/** What this package needs of a logger; pino's fits. */
export interface QueueLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * - `producer`: sends commands on behalf of somebody who waits, so it fails fast.
 * - `worker`: polls and blocks for ever, so it waits for Redis to come back.
 * - `subscriber`: listens, and subscribes again by itself after a reconnect.
 */
export type RedisRole = 'producer' | 'worker' | 'subscriber';

/** How long a producer's command may take before its caller is told that Redis is unavailable. */
export const producerCommandTimeoutMs = 2_000;
const connectTimeoutMs = 5_000;
const reconnectDelayMsMax = 1_000;
/** Longer than BullMQ's longest blocking read (10 s), so that only a dead socket runs into it. */
const workerSocketTimeoutMs = 30_000;

/**
 * Opens a connection that reconnects for ever and never brings the process down. It returns at
 * once; `waitForRedis` waits for it to be usable. The caller closes it with `closeRedis`.
 *
 * A producer has no offline queue: while Redis is away, a command is refused at once and not sent
 * late, because Postgres and the reconcilers remember what has to be done.
 */
export function connectRedis(
  url: string,
  role: RedisRole,
  logger?: QueueLogger,
  connectionName?: string,
): Redis {
  const common = {
    ...(connectionName === undefined ? {} : { connectionName }),
    connectTimeout: connectTimeoutMs,
    retryStrategy: (attempt: number) =>
      Math.min(50 * 2 ** Math.min(attempt, 10), reconnectDelayMsMax),
  };
  const redis =
    role === 'producer'
      ? new Redis(url, {
          ...common,
          enableOfflineQueue: false,
          maxRetriesPerRequest: 1,
          commandTimeout: producerCommandTimeoutMs,
        })
      : new Redis(url, {
          ...common,
          maxRetriesPerRequest: null,
          ...(role === 'worker' ? { socketTimeout: workerSocketTimeoutMs } : {}),
        });
  redis.on('error', (error: Error) => {
    logger?.warn({ err: error, role }, 'redis connection error');
  });
  return redis;
}

/** Whether commands can be sent right now. */
export function redisIsReady(redis: Redis): boolean {
  return redis.status === 'ready';
}

/** Waits until the connection is usable; false when it is not after `timeoutMs`. */
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

/** Closes a connection at once, whether or not Redis can be reached. */
export async function closeRedis(redis: Redis): Promise<void> {
  if (redis.status === 'end') return;
  if (redis.status === 'reconnecting') {
    // Between two attempts there is no socket whose end could be told: disconnecting only stops
    // the attempts.
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
 * The prefix of every key, as a hash tag: the braces put all keys of an environment in one slot,
 * which the scripts of BullMQ and of the fleet registry need on Redis Cluster.
 */
export function keyPrefix(prefix: string): string {
  return `{${prefix}}`;
}
