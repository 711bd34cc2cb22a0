import { randomUUID } from 'node:crypto';
import os from 'node:os';
import type { Redis } from 'ioredis';
import { redisScript } from './redis-script.ts';
import { keyPrefix, redisIsReady, type QueueLogger } from './redis.ts';

/**
 * Which services run: each process says so again and again, and `svc status` reads who was heard of
 * lately. Kept in Redis, by its clock; after a FLUSHALL it is whole again within a beat.
 */

export interface ServiceInstance {
  readonly service: string;
  readonly host: string;
  readonly pid: number;
  /** RFC 3339. */
  readonly startedAt: string;
}

export interface HeardInstance extends ServiceInstance {
  /** How long ago it last said that it is there. */
  readonly silentMs: number;
}

/** A process says that it is there this often. */
export const presenceIntervalMs = 5_000;
/** One that was not heard for this long is gone. */
export const presenceSilentMs = 15_000;
/** One that went without a word is shown as silent this long. */
const presenceKeptMs = 600_000;
const instancesMax = 1_000;

/** KEYS[1]: sorted set of instances as JSON, by when they were heard. ARGV: instance, kept for ms. */
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

/** Says that this process is there until it is closed. `redis` stays the caller's to close. */
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
    // Several may run in one process, as in tests.
    instance: randomUUID(),
  });
  let current = say();
  const timer = setInterval(() => {
    current = say();
  }, presenceIntervalMs);

  async function say(): Promise<void> {
    if (!redisIsReady(redis)) return;
    try {
      await beat(redis, presenceKey(prefix), [instance, presenceKeptMs]);
    } catch (error) {
      logger.warn({ err: error }, 'could not say that the service is there');
    }
  }

  return {
    async close() {
      clearInterval(timer);
      await current;
      if (!redisIsReady(redis)) return;
      // What cannot be said any more is found out by the silence.
      await redis.zrem(presenceKey(prefix), instance).catch(() => {});
    },
  };
}

/** Who was heard of lately, those silent by now included. Throws when Redis cannot be reached. */
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
