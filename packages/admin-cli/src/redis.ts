import type * as queue from '@svc/queue';
import { ConfigError } from '@svc/runtime';
import type { Context } from './context.ts';
import { Refusal } from './refusal.ts';

export interface RedisContext {
  readonly redis: ReturnType<typeof queue.connectRedis>;
  readonly prefix: string;
  readonly producer: queue.Producer;
  /** The queue package. It is loaded only when needed, because loading takes noticeable time. */
  readonly queue: typeof queue;
}

const redisWaitMs = 2_000;

interface Away {
  readonly kind: 'away';
  /** A sentence about REDIS_URL. Undefined if Redis cannot be reached for another reason. */
  readonly fault: string | undefined;
}

/**
 * Runs `work` with Redis. Throws ConfigError if REDIS_URL is wrong, and Refusal if it is not set or
 * Redis is unreachable or of the other environment.
 */
export async function withRedis<T>(
  context: Context,
  work: (redis: RedisContext) => Promise<T>,
): Promise<T> {
  const outcome = await tryRedis(context, work);
  if (outcome.kind === 'away') {
    if (outcome.fault !== undefined) throw new ConfigError(outcome.fault);
    throw new Refusal(
      'There is no connection to Redis. Start Redis, or set REDIS_URL to its address.',
    );
  }
  return outcome.value;
}

/**
 * Like `withRedis`, but returns `away` if REDIS_URL is not set or Redis cannot be reached. Throws
 * Refusal if Redis belongs to the other environment (sandbox or production).
 */
export async function tryRedis<T>(
  { configuration }: Context,
  work: (redis: RedisContext) => Promise<T>,
): Promise<{ kind: 'done'; value: T } | Away> {
  const { REDIS_URL: url, REDIS_PREFIX: prefix, SVC_ENVIRONMENT: wanted } = configuration;
  if (url === undefined) return { kind: 'away', fault: undefined };
  const loaded = await import('@svc/queue');
  const { closeRedis, environmentOfRedis, foreignRedis, waitForRedis } = loaded;
  const redis = loaded.connectRedis(url, 'producer', undefined, {
    clusterKey: loaded.keyPrefix(prefix),
  });
  const faultOf = loaded.watchForWrongUrl(redis);
  const producer = loaded.createProducer({ redis, prefix });
  try {
    if (!(await waitForRedis(redis, redisWaitMs))) return { kind: 'away', fault: faultOf() };
    const found = await environmentOfRedis(redis, url);
    if (found !== null && found !== wanted) throw new Refusal(foreignRedis(found, wanted));
    return { kind: 'done', value: await work({ redis, prefix, producer, queue: loaded }) };
  } finally {
    await producer.close();
    await closeRedis(redis);
  }
}

/**
 * Notifies the services of a committed change. Never throws. Returns false if Redis cannot be used:
 * the services then find the change in Postgres a little later.
 */
export async function notifyServices(
  context: Context,
  send: (redis: RedisContext) => Promise<void>,
): Promise<boolean> {
  try {
    return (await tryRedis(context, send)).kind === 'done';
  } catch (error) {
    // An error here would hide the result of the change, such as a new secret.
    process.stderr.write(
      `The change is made, but the services were not notified: ${reasonOf(error)}\nThey find the change a little later.\n`,
    );
    return false;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

/** Announces due deliveries of these tenants to the webhooks service (`notifyServices`). */
export async function announceDeliveries(
  context: Context,
  tenantIds: readonly string[],
): Promise<void> {
  if (tenantIds.length === 0) return;
  await notifyServices(context, ({ producer, queue }) =>
    queue.announceDeliveries(producer, tenantIds),
  );
}
