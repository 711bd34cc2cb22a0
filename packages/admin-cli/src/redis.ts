import type * as queue from '@svc/queue';
import type { Context } from './context.ts';
import { Refusal } from './refusal.ts';

export interface RedisContext {
  readonly redis: ReturnType<typeof queue.connectRedis>;
  readonly prefix: string;
  readonly producer: queue.Producer;
  /** All that there is to do with it: loaded here only, as it takes a while. */
  readonly queue: typeof queue;
}

const redisWaitMs = 2_000;

/** Works on the service's Redis; throws Refusal where there is none, or it is the other environment's. */
export async function withRedis<T>(
  context: Context,
  work: (redis: RedisContext) => Promise<T>,
): Promise<T> {
  const outcome = await tryRedis(context, work);
  if (outcome.kind === 'away') {
    throw new Refusal('Redis cannot be reached. Check REDIS_URL and that it runs.');
  }
  return outcome.value;
}

/** The same for what goes on without Redis: `away` where it cannot be reached. */
export async function tryRedis<T>(
  { configuration }: Context,
  work: (redis: RedisContext) => Promise<T>,
): Promise<{ kind: 'done'; value: T } | { kind: 'away' }> {
  const { REDIS_URL: url, REDIS_PREFIX: prefix, SVC_ENVIRONMENT: wanted } = configuration;
  if (url === undefined) return { kind: 'away' };
  const loaded = await import('@svc/queue');
  const { closeRedis, environmentOfRedis, foreignRedis, waitForRedis } = loaded;
  const redis = loaded.connectRedis(url, 'producer');
  const producer = loaded.createProducer({ redis, prefix });
  try {
    if (!(await waitForRedis(redis, redisWaitMs))) return { kind: 'away' };
    const found = await environmentOfRedis(redis);
    if (found !== null && found !== wanted) throw new Refusal(foreignRedis(found, wanted));
    return { kind: 'done', value: await work({ redis, prefix, producer, queue: loaded }) };
  } finally {
    await producer.close();
    await closeRedis(redis);
  }
}
