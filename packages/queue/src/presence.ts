import { randomUUID } from 'node:crypto';
import os from 'node:os';
import type { Redis } from 'ioredis';
import { redisScript } from './redis-script.ts';
import { keyPrefix, redisIsReady, type QueueLogger } from './redis.ts';

/**
 * Heartbeats of the running services. Each process repeats its heartbeat, and `svc status` lists
 * the recent ones. They are in Redis and use its clock. After a FLUSHALL the list is complete again
 * within one interval.
 */

export interface ServiceInstance {
  readonly service: string;
  readonly host: string;
  readonly pid: number;
  /** RFC 3339. */
  readonly startedAt: string;
}

export interface HeardInstance extends ServiceInstance {
  /** The time since its last heartbeat. */
  readonly silentMs: number;
}

/** The interval between two heartbeats of a process. */
export const presenceIntervalMs = 5_000;
/** A process without a heartbeat for this long counts as silent. */
export const presenceSilentMs = 15_000;
/** A silent process stays in the list for this long. */
const presenceKeptMs = 600_000;
const instancesMax = 1_000;

/** KEYS[1]: sorted set of instances as JSON, by last heartbeat. ARGV: instance, kept for ms. */
const beat = redisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
return now
`);

function presenceKey(prefix: string): string {
  return `${keyPrefix(prefix)}:services`;
}

/** Sends heartbeats of this process until it is closed. The caller closes `redis`. */
export function announceService({
  redis,
  prefix,
  service,
  logger,
}: {
  readonly redis: Redis;
  readonly prefix: string;
  readonly service: string;
  readonly logger: QueueLogger;
}): { close(): Promise<void> } {
  const instance = JSON.stringify({
    service,
    host: os.hostname(),
    pid: process.pid,
    startedAt: new Date().toISOString(),
    // One process may run several services, as in tests.
    instance: randomUUID(),
  });
  let current = sendHeartbeat();
  const timer = setInterval(() => {
    current = sendHeartbeat();
  }, presenceIntervalMs);

  async function sendHeartbeat(): Promise<void> {
    if (!redisIsReady(redis)) return;
    try {
      await beat(redis, presenceKey(prefix), [instance, presenceKeptMs]);
    } catch (error) {
      logger.warn({ err: error }, 'could not send the heartbeat of the service');
    }
  }

  return {
    async close() {
      clearInterval(timer);
      await current;
      if (!redisIsReady(redis)) return;
      // If this fails, the process counts as silent after a while.
      await redis.zrem(presenceKey(prefix), instance).catch(() => {});
    },
  };
}

/** Lists the services with a recent heartbeat, and silent ones. Throws if Redis is unreachable. */
export async function listServices(redis: Redis, prefix: string): Promise<HeardInstance[]> {
  const [seconds, micros] = await redis.time();
  const nowMs = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  const key = presenceKey(prefix);
  const flat = await redis.zrevrange(key, 0, instancesMax - 1, 'WITHSCORES');
  const found: HeardInstance[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const { service, host, pid, startedAt }: ServiceInstance = JSON.parse(flat[at] ?? '');
    const silentMs = Math.max(0, nowMs - Number(flat[at + 1]));
    found.push({ service, host, pid, startedAt, silentMs });
  }
  return found.toSorted((a, b) => a.service.localeCompare(b.service) || a.pid - b.pid);
}
