import { randomUUID } from 'node:crypto';
import { type RateDecision, type RatePolicy, takeToken, type TokenBucket } from '@svc/domain';
import type { Redis } from 'ioredis';
import { giveBackScript } from './rate-limit-script.ts';
import { keyPrefix, type QueueLogger, redisIsReady } from './redis.ts';
import { createSharedBuckets } from './shared-buckets.ts';

/** The rate limits of the gateway, one bucket for each name (CONTRACT 2: 429). */
export interface RateLimiter {
  /**
   * Takes `cost` tokens from the bucket `name`, but at most its burst, so that it can have them.
   * `allowed` is false if it has fewer. Never throws.
   */
  take(name: string, policy: RatePolicy, cost?: number): Promise<RateDecision>;
  /** Puts back a token that was taken a moment ago, if possible. Never throws. */
  giveBack(name: string, policy: RatePolicy): Promise<void>;
}

/**
 * The longest time that `take` waits for Redis. If Redis fails or has not answered by then, the
 * limiter does not use Redis for up to `pauseMs`.
 */
const answerTimeoutMs = 250;
const pauseMs = 1_000;
const localBucketsMax = 10_000;

/**
 * Rate limits in Redis, shared by all gateways. While Redis is unreachable or too slow, each
 * gateway uses its own buckets, which start full (CONTRACT 2).
 */
export function createRateLimiter({
  redis,
  prefix,
  monotonicMs,
  logger,
}: {
  /** A connection of role `producer`, which fails fast. The caller closes it. */
  readonly redis: Redis;
  readonly prefix: string;
  readonly monotonicMs: () => number;
  readonly logger?: QueueLogger;
}): RateLimiter {
  const shared = createSharedBuckets({
    redis,
    keyBegin: `${keyPrefix(prefix)}:rate:`,
    gateway: randomUUID(),
    answerTimeoutMs,
    monotonicMs,
    lost: (error) => pause(error, monotonicMs()),
  });
  const local = createLocalBuckets(localBucketsMax);
  let pausedUntilMs = -Infinity;

  function pause(error: unknown, sinceMs: number): void {
    // Calls go to Redis in batches. The calls of a batch fail together, so only the first failure
    // is logged.
    if (sinceMs >= pausedUntilMs) {
      logger?.warn(
        { err: error },
        'could not use the rate limits in Redis; this gateway counts requests by itself for 1 s',
      );
    }
    pausedUntilMs = sinceMs + pauseMs;
  }

  return {
    async take(name, policy, asked = 1) {
      const cost = Math.min(asked, policy.burst);
      const nowMs = monotonicMs();
      if (nowMs < pausedUntilMs || !redisIsReady(redis)) {
        return local.take(name, policy, nowMs, cost);
      }
      try {
        return await shared.take(name, policy, cost);
      } catch (error) {
        pause(error, nowMs);
        return local.take(name, policy, nowMs, cost);
      }
    },
    async giveBack(name, policy) {
      const nowMs = monotonicMs();
      local.giveBack(name, policy, nowMs);
      if (nowMs < pausedUntilMs || !redisIsReady(redis)) return;
      try {
        await giveBackScript(redis, `${keyPrefix(prefix)}:rate:`, [name, policy.burst]);
      } catch (error) {
        logger?.warn({ err: error }, 'could not return a rate limit token to Redis');
      }
    },
  };
}

export interface LocalBuckets {
  take(name: string, policy: RatePolicy, nowMs: number, cost?: number): RateDecision;
  giveBack(name: string, policy: RatePolicy, nowMs: number): void;
}

/**
 * Buckets of this process alone. If there are more than `bucketsMax`, the bucket whose last `take`
 * is the longest ago is dropped.
 */
export function createLocalBuckets(bucketsMax: number): LocalBuckets {
  const buckets = new Map<string, TokenBucket>();
  return {
    take(name, policy, nowMs, cost = 1) {
      const { bucket, decision } = takeToken(buckets.get(name), policy, nowMs, cost);
      // The map must be in the order of use. A `set` without `delete` would leave the bucket in its
      // old place.
      buckets.delete(name);
      buckets.set(name, bucket);
      const [oldest] = buckets.keys();
      if (buckets.size > bucketsMax && oldest !== undefined) buckets.delete(oldest);
      return decision;
    },
    giveBack(name, policy, nowMs) {
      const bucket = buckets.get(name);
      // A missing bucket is full.
      if (bucket === undefined) return;
      buckets.set(name, takeToken(bucket, policy, nowMs, -1).bucket);
    },
  };
}
