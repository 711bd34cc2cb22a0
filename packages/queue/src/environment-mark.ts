import type { Redis } from 'ioredis';
import { clusterOf } from './redis-address.ts';
import { redisScript } from './redis-script.ts';
import {
  closeRedis,
  connectRedis,
  type QueueLogger,
  waitForRedis,
  watchForWrongUrl,
} from './redis.ts';

type Environment = 'sandbox' | 'production';

/**
 * The key of the mark, which names the environment of a Redis (CONTRACT 0). One mark covers every
 * `REDIS_PREFIX` of a Redis, and a whole cluster (decision 46).
 */
const markKey = 'svc:environment';

export interface RedisGuardOptions {
  readonly redisUrl: string;
  readonly environment: Environment;
  readonly logger: QueueLogger;
  /**
   * Throws an error that ends the process and shows `reason` to the operator. Called if `redisUrl`
   * is wrong, or if Redis belongs to the other environment.
   */
  readonly refuse: (reason: string) => never;
  /** The time between two checks of the mark; default 1 s. */
  readonly intervalMs?: number;
}

export interface RedisGuard {
  close(): Promise<void>;
}

const intervalMsDefault = 1_000;
/**
 * The longest wait for Redis. If Redis has not answered by then, a starting service runs anyway,
 * and `guardRedis` checks the environment of Redis later.
 */
const startWaitMsMax = 1_000;

/**
 * Checks at the start and at every interval which environment Redis belongs to. If it is the wrong
 * one, calls `refuse`, or only logs an error if an earlier check succeeded.
 */
export async function guardRedis(options: RedisGuardOptions): Promise<RedisGuard> {
  const { redisUrl, environment, logger } = options;
  const redis = connectRedis(redisUrl, 'producer', logger, {
    connectionName: connectionName(environment),
    clusterKey: markKey,
  });
  const state: GuardState = { hasHadMark: false, isLost: false };
  const faultOf = watchForWrongUrl(redis);
  try {
    if (await waitForRedis(redis, startWaitMsMax)) await check(redis, options, state);
    else refuseIfWrong(faultOf(), options);
  } catch (error) {
    await closeRedis(redis);
    throw error;
  }
  let checking: Promise<void> = Promise.resolve();
  let isChecking = false;
  const timer = setInterval(() => {
    if (isChecking || redis.status !== 'ready') return;
    isChecking = true;
    checking = check(redis, options, state).finally(() => (isChecking = false));
  }, options.intervalMs ?? intervalMsDefault);
  return {
    async close() {
      clearInterval(timer);
      await checking;
      await closeRedis(redis);
    },
  };
}

function refuseIfWrong(fault: string | undefined, { refuse }: RedisGuardOptions): void {
  if (fault !== undefined) refuse(fault);
}

interface GuardState {
  hasHadMark: boolean;
  /**
   * True if Redis belonged to the other environment at the last check that Redis answered. The
   * guard logs the error only when `isLost` changes from false to true.
   */
  isLost: boolean;
}

async function check(
  redis: Redis,
  { environment, logger, refuse }: RedisGuardOptions,
  state: GuardState,
): Promise<void> {
  let found: string;
  try {
    found = await claimRedis(redis, environment);
  } catch (error) {
    logger.warn({ err: error }, 'could not check which environment this Redis belongs to');
    return;
  }
  if (found === environment) {
    state.hasHadMark = true;
    state.isLost = false;
    return;
  }
  const reason = foreignRedis(found, environment);
  if (!state.hasHadMark) refuse(reason);
  if (!state.isLost) logger.error({ event: 'redis.environment_lost', found }, reason);
  state.isLost = true;
}

/**
 * Returns the environment that this Redis belongs to. A Redis without a mark gets the mark
 * `environment`, unless a guard of the other environment is connected.
 */
async function claimRedis(redis: Redis, environment: Environment): Promise<string> {
  const reply = await claimScript(redis, markKey, [environment]);
  const [found, isNew] = Array.isArray(reply) ? reply : [];
  if (isNew !== 1) return String(found);
  // The mark was missing, perhaps after a FLUSHALL. If a guard of the other environment is still
  // connected, this Redis belongs to the other environment.
  const other = environment === 'sandbox' ? 'production' : 'sandbox';
  if (!(await isConnected(redis, other))) return environment;
  await giveBackScript(redis, markKey, [environment]);
  return other;
}

async function isConnected(redis: Redis, environment: Environment): Promise<boolean> {
  const clients = String(await redis.client('LIST'));
  return clients.includes(` name=${connectionName(environment)} `);
}

/**
 * Reads the environment that a Redis belongs to. Null if Redis has no key `svc:environment`.
 * `redis` must be connected to `redisUrl`. Throws if Redis is unreachable.
 */
export async function environmentOfRedis(redis: Redis, redisUrl: string): Promise<string | null> {
  if (clusterOf(redisUrl) === undefined) return redis.get(markKey);
  const owner = connectRedis(redisUrl, 'producer', undefined, { clusterKey: markKey });
  try {
    await waitForRedis(owner, startWaitMsMax);
    return await owner.get(markKey);
  } finally {
    await closeRedis(owner);
  }
}

export function foreignRedis(found: string, wanted: string): string {
  return `The Redis at REDIS_URL belongs to ${found}, but SVC_ENVIRONMENT is ${wanted}. Give each environment its own Redis.`;
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
