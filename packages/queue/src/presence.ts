import { randomUUID } from 'node:crypto';
import os from 'node:os';
import type { Redis } from 'ioredis';
import { redisScript } from './redis-script.ts';
import { keyPrefix, redisIsReady, type QueueLogger } from './redis.ts';

/** A process sends these facts about itself, for `svc doctor`. */
export interface ServiceFacts {
  readonly version: string;
  /** The name of the last migration that the build contains. */
  readonly schema: string;
  readonly poolMax: number;
  /**
   * Days from the end of a submission until its personal data is deleted. Only settlement sends
   * this fact.
   */
  readonly retentionDays?: number;
  /**
   * Usage reports are kept for at least this many days from the creation of their submission. Only
   * settlement sends this fact.
   */
  readonly usageDays?: number;
  /**
   * Events and deliveries are kept for at least this many days from their creation, and attempts as
   * long as their delivery. Only settlement sends this fact.
   */
  readonly deliveryDays?: number;
  /** The expiry time of the service's certificate, RFC 3339. Missing without a certificate. */
  readonly certificateExpiresAt?: string;
}

export interface ServiceInstance {
  readonly service: string;
  readonly host: string;
  readonly pid: number;
  /** RFC 3339. */
  readonly startedAt: string;
  /** Missing for services of earlier versions. */
  readonly facts?: ServiceFacts;
}

export interface HeardInstance extends ServiceInstance {
  readonly silentMs: number;
  /**
   * How far the clock of the process is ahead of the clock of Redis, minus the time that the
   * heartbeat took to reach Redis. Null for services of earlier versions.
   */
  readonly clockAheadMs: number | null;
}

export const presenceIntervalMs = 5_000;
/** A process without a heartbeat for this long counts as silent. */
export const presenceSilentMs = 15_000;
const presenceKeptMs = 600_000;
const instancesMax = 1_000;

/**
 * Records a heartbeat. KEYS[1]: sorted set of instances as JSON, by last heartbeat. ARGV: instance,
 * `presenceKeptMs`, the clock of the instance in ms.
 */
const beat = redisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local clocks = KEYS[1] .. ':clocks'
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('HSET', clocks, ARGV[1], tonumber(ARGV[3]) - now)
for _, old in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))) do
  redis.call('ZREM', KEYS[1], old)
  redis.call('HDEL', clocks, old)
end
return now
`);

function presenceKey(prefix: string): string {
  return `${keyPrefix(prefix)}:services`;
}

function clocksKey(prefix: string): string {
  return `${presenceKey(prefix)}:clocks`;
}

/**
 * Sends heartbeats of one instance of a service until `close`. If Redis is reachable, `close` also
 * removes the instance from the list (`listServices`). The caller closes `redis`.
 */
export function announceService({
  redis,
  prefix,
  service,
  facts,
  logger,
}: {
  readonly redis: Redis;
  readonly prefix: string;
  readonly service: string;
  readonly facts: ServiceFacts;
  readonly logger: QueueLogger;
}): { close(): Promise<void> } {
  const instance = JSON.stringify({
    service,
    host: os.hostname(),
    pid: process.pid,
    startedAt: new Date().toISOString(),
    facts,
    // The id distinguishes instances whose other members are equal. In tests, one process may start
    // two instances of a service in the same millisecond.
    instance: randomUUID(),
  });
  let current = sendHeartbeat();
  const timer = setInterval(() => {
    current = sendHeartbeat();
  }, presenceIntervalMs);

  async function sendHeartbeat(): Promise<void> {
    if (!redisIsReady(redis)) return;
    try {
      await beat(redis, presenceKey(prefix), [instance, presenceKeptMs, Date.now()]);
    } catch (error) {
      logger.warn({ err: error }, 'could not send the heartbeat of the service');
    }
  }

  return {
    async close() {
      clearInterval(timer);
      await current;
      if (!redisIsReady(redis)) return;
      // If the removal fails, the process counts as silent after `presenceSilentMs`.
      await redis.zrem(presenceKey(prefix), instance).catch(() => {});
      await redis.hdel(clocksKey(prefix), instance).catch(() => {});
    },
  };
}

/**
 * Lists the running and the silent processes, `instancesMax` at most. Throws if Redis is
 * unreachable.
 */
export async function listServices(redis: Redis, prefix: string): Promise<HeardInstance[]> {
  const [seconds, micros] = await redis.time();
  const nowMs = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  const key = presenceKey(prefix);
  const flat = await redis.zrevrange(key, 0, instancesMax - 1, 'WITHSCORES');
  const clocks = await redis.hgetall(clocksKey(prefix));
  const found: HeardInstance[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const text = flat[at] ?? '';
    const { service, host, pid, startedAt, facts }: ServiceInstance = JSON.parse(text);
    const silentMs = Math.max(0, nowMs - Number(flat[at + 1]));
    const clock = clocks[text];
    const clockAheadMs = clock === undefined ? null : Number(clock);
    const instance = { service, host, pid, startedAt, silentMs, clockAheadMs };
    found.push(facts === undefined ? instance : { ...instance, facts });
  }
  return found.toSorted((a, b) => a.service.localeCompare(b.service) || a.pid - b.pid);
}
