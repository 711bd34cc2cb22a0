import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { presenceIntervalMs } from './presence.ts';
import { redisScript } from './redis-script.ts';
import { keyPrefix, redisIsReady, type QueueLogger } from './redis.ts';

/**
 * Log levels of services, which an operator sets in Redis for a while. A level applies to the
 * processes of its service that run when it is set. A FLUSHALL ends it.
 */

/** The levels that an operator can set. Errors cannot be switched off. */
export const settableLogLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type SettableLogLevel = (typeof settableLogLevels)[number];

/** If Redis answers, a running process applies a newly set level within this time. */
export const logLevelAppliedWithinMs = presenceIntervalMs;

export interface LogLevelSetting {
  readonly level: SettableLogLevel;
  readonly leftMs: number;
  readonly processes: number;
}

/**
 * The key of a hash with the level, the Redis time at which it was set, and the processes that have
 * applied it.
 */
function levelKey(prefix: string, service: string): string {
  return `${keyPrefix(prefix)}:log-level:${service}`;
}

const processField = 'process:';

/** Added to the age that a process sends, because the process is older when `follow` runs. */
const travelAllowanceMs = 1_000;

/** Sets the level of a service. KEYS[1]: `levelKey`. ARGV: the level, its lifetime in ms. */
const set = redisScript(`
local time = redis.call('TIME')
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'level', ARGV[1], 'setAtMs', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`);

/**
 * KEYS[1]: `levelKey`. ARGV: the process, its age in ms. Returns the level and its remaining ms, or
 * false if no level is set, or if the level is older than the process.
 */
const follow = redisScript(`
local found = redis.call('HMGET', KEYS[1], 'level', 'setAtMs')
if not found[1] then return false end
local time = redis.call('TIME')
local startedAtMs = time[1] * 1000 + math.floor(time[2] / 1000) - tonumber(ARGV[2])
if tonumber(found[2]) < startedAtMs then return false end
redis.call('HSET', KEYS[1], '${processField}' .. ARGV[1], 1)
return { found[1], redis.call('PTTL', KEYS[1]) }
`);

/**
 * Sets the level for `durationMs`. The running processes of the service apply it within
 * `logLevelAppliedWithinMs`. Throws if Redis is unreachable.
 */
export async function setLogLevel(
  redis: Redis,
  prefix: string,
  service: string,
  { level, durationMs }: { readonly level: SettableLogLevel; readonly durationMs: number },
): Promise<void> {
  await set(redis, levelKey(prefix, service), [level, durationMs]);
}

/** Removes the level of a service before the level expires. Throws if Redis is unreachable. */
export async function clearLogLevel(redis: Redis, prefix: string, service: string): Promise<void> {
  await redis.del(levelKey(prefix, service));
}

/**
 * The level that is set for a service. Null if none is set, or if its lifetime has ended. Throws if
 * Redis is unreachable.
 */
export async function readLogLevel(
  redis: Redis,
  prefix: string,
  service: string,
): Promise<LogLevelSetting | null> {
  const key = levelKey(prefix, service);
  const [found, leftMs] = await Promise.all([redis.hgetall(key), redis.pttl(key)]);
  const level = levelOf(found['level']);
  if (level === null || leftMs <= 0) return null;
  const processes = Object.keys(found).filter((field) => field.startsWith(processField)).length;
  return { level, leftMs, processes };
}

function levelOf(text: unknown): SettableLogLevel | null {
  return settableLogLevels.find((level) => level === text) ?? null;
}

export interface LogLevelFollower {
  readonly redis: Redis;
  readonly prefix: string;
  readonly service: string;
  readonly monotonicMs: () => number;
  /** Called with null to apply the configured level. */
  readonly apply: (level: SettableLogLevel | null) => void;
  readonly logger: QueueLogger;
}

/**
 * Returns a function that applies the level of the service to this process. Call the function every
 * `logLevelAppliedWithinMs`.
 */
export function createLogLevelFollower(options: LogLevelFollower): () => Promise<void> {
  const { redis, prefix, service, monotonicMs, apply, logger } = options;
  const process = randomUUID();
  const startedMs = monotonicMs();
  let current: SettableLogLevel | null = null;
  let endsMs = 0;

  async function read(): Promise<SettableLogLevel | null | undefined> {
    if (!redisIsReady(redis)) return undefined;
    try {
      const ageMs = Math.ceil(monotonicMs() - startedMs) + travelAllowanceMs;
      const found = await follow(redis, levelKey(prefix, service), [process, ageMs]);
      if (!Array.isArray(found)) return null;
      endsMs = monotonicMs() + Number(found[1]);
      return levelOf(found[0]);
    } catch (error) {
      logger.warn({ err: error }, 'could not read the log level of the service');
      return undefined;
    }
  }

  return async () => {
    const found = await read();
    // If Redis is unreachable, the last level still ends after its time.
    const kept = monotonicMs() < endsMs ? current : null;
    const level = found === undefined ? kept : found;
    if (level === current) return;
    current = level;
    apply(level);
  };
}
