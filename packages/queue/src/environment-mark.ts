import type { Redis } from 'ioredis';
import { closeRedis, connectRedis, type QueueLogger, waitForRedis } from './redis.ts';
import { redisScript } from './redis-script.ts';

type Environment = 'sandbox' | 'production';

/**
 * Which environment a Redis belongs to (CONTRACT 0: sandbox and production share nothing).
 * Of the whole server, whatever the prefix: queues under two prefixes would still be emptied and
 * filled up together.
 */
const markKey = 'svc:environment';

export interface RedisGuardOptions {
  readonly redisUrl: string;
  readonly environment: Environment;
  readonly logger: QueueLogger;
  /** Ends the start, or the process, with this sentence for an operator. */
  readonly refuse: (reason: string) => never;
  /** Between two looks at the mark; default 1 s. */
  readonly intervalMs?: number;
}

export interface RedisGuard {
  close(): Promise<void>;
}

const intervalMsByDefault = 1_000;
/** Services start without Redis; one that is away is looked at once it is back. */
const startWaitMsMax = 1_000;

/**
 * Keeps a service off a Redis that belongs to the other environment. The first service marks it;
 * the mark is looked at every second, and set again after a FLUSHALL. In the moment without a mark
 * whoever wants to set it first looks at who is connected: each guard's connection is named after
 * its environment, and a FLUSHALL ends no connection.
 *
 * Calls `refuse` at start, or, where Redis was away then, as soon as it answers. A service that
 * had the mark once keeps working and says so in its log: it was there first.
 */
export async function guardRedis(options: RedisGuardOptions): Promise<RedisGuard> {
  const { redisUrl, environment, logger } = options;
  const redis = connectRedis(redisUrl, 'producer', logger, connectionName(environment));
  const state: GuardState = { hasHadMark: false, isLost: false };
  try {
    if (await waitForRedis(redis, startWaitMsMax)) await look(redis, options, state);
  } catch (error) {
    await closeRedis(redis);
    throw error;
  }
  let looking: Promise<void> = Promise.resolve();
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking || redis.status !== 'ready') return;
    isLooking = true;
    looking = look(redis, options, state).finally(() => (isLooking = false));
  }, options.intervalMs ?? intervalMsByDefault);
  return {
    async close() {
      clearInterval(timer);
      await looking;
      await closeRedis(redis);
    },
  };
}

interface GuardState {
  hasHadMark: boolean;
  /** Whether the mark is the other environment's although it was ours. */
  isLost: boolean;
}

async function look(
  redis: Redis,
  { environment, logger, refuse }: RedisGuardOptions,
  state: GuardState,
): Promise<void> {
  let found: string;
  try {
    found = await claimRedis(redis, environment);
  } catch (error) {
    logger.warn({ err: error }, 'could not look whose Redis this is');
    return;
  }
  if (found === environment) {
    state.hasHadMark = true;
    state.isLost = false;
    return;
  }
  const reason = foreignRedis(found, environment);
  if (!state.hasHadMark) refuse(reason);
  if (!state.isLost) logger.error({ found }, reason);
  state.isLost = true;
}

/** Whose this Redis is after this call: it is marked as `environment`'s where it was nobody's. */
async function claimRedis(redis: Redis, environment: Environment): Promise<string> {
  const reply = await claimScript(redis, markKey, [environment]);
  const [found, isNew] = Array.isArray(reply) ? reply : [];
  if (isNew !== 1) return String(found);
  const other = environment === 'sandbox' ? 'production' : 'sandbox';
  if (!(await isConnected(redis, other))) return environment;
  await giveBackScript(redis, markKey, [environment]);
  return other;
}

/** Whether a service of the environment is connected to this Redis. */
async function isConnected(redis: Redis, environment: Environment): Promise<boolean> {
  const clients = String(await redis.client('LIST'));
  return clients.includes(` name=${connectionName(environment)} `);
}

/** Whose a Redis is, without marking it; null: nobody's. */
export async function environmentOfRedis(redis: Redis): Promise<string | null> {
  return redis.get(markKey);
}

export function foreignRedis(found: string, wanted: string): string {
  return `The Redis at REDIS_URL belongs to ${found}, and SVC_ENVIRONMENT is ${wanted}: give each environment a Redis of its own.`;
}

function connectionName(environment: Environment): string {
  return `svc-${environment}`;
}

const claimScript = redisScript(`
local found = redis.call('GET', KEYS[1])
if found then return {found, 0} end
redis.call('SET', KEYS[1], ARGV[1])
return {ARGV[1], 1}
`);

const giveBackScript = redisScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 0
`);
