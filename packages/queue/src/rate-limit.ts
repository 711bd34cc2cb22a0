import { type RateDecision, type RatePolicy, takeToken, type TokenBucket } from '@svc/domain';
import type { Redis } from 'ioredis';
import { keyPrefix, type QueueLogger, redisIsReady } from './redis.ts';
import { giveBackScript } from './rate-limit-script.ts';
import { createSharedBuckets } from './shared-buckets.ts';

/** The tenants' rate limit (CONTRACT 2: 429). */
export interface RateLimiter {
  /** Takes a token of the bucket `name`; never throws. */
  take(name: string, policy: RatePolicy): Promise<RateDecision>;
  /** Puts a token back that was taken a moment ago; best effort, and never throws. */
  giveBack(name: string, policy: RatePolicy): Promise<void>;
}

/** A bucket must not cost a request more than this; Redis is then left alone for a while. */
const answerTimeoutMs = 250;
const leftAloneMs = 1_000;
const localBucketsMax = 10_000;

/**
 * Buckets in Redis, shared by every gateway. While Redis is away, or too slow to be asked before
 * every request, each gateway counts for itself: its buckets begin full, so that a tenant gets up
 * to a gateway's worth more for that time (CONTRACT 2, `unavailable`).
 */
export function createRateLimiter({
  redis,
  prefix,
  monotonicMs,
  logger,
}: {
  /** Of role `producer`: fails fast. Stays the caller's to close. */
  readonly redis: Redis;
  readonly prefix: string;
  readonly monotonicMs: () => number;
  readonly logger?: QueueLogger;
}): RateLimiter {
  const shared = createSharedBuckets({
    redis,
    keyBegin: `${keyPrefix(prefix)}:rate:`,
    answerTimeoutMs,
    monotonicMs,
  });
  const local = createLocalBuckets(localBucketsMax);
  let leftAloneUntilMs = -Infinity;

  return {
    async take(name, policy) {
      const nowMs = monotonicMs();
      if (nowMs < leftAloneUntilMs || !redisIsReady(redis)) return local.take(name, policy, nowMs);
      try {
        return await shared.take(name, policy);
      } catch (error) {
        // Those that shared a message fail together: one line is enough for them.
        if (nowMs >= leftAloneUntilMs) {
          logger?.warn({ err: error }, 'rate limits count per gateway for a while');
        }
        leftAloneUntilMs = nowMs + leftAloneMs;
        return local.take(name, policy, nowMs);
      }
    },
    async giveBack(name, policy) {
      const nowMs = monotonicMs();
      local.giveBack(name, policy, nowMs);
      if (nowMs < leftAloneUntilMs || !redisIsReady(redis)) return;
      try {
        const args = [name, policy.perSecond, policy.burst];
        await giveBackScript(redis, `${keyPrefix(prefix)}:rate:`, args);
      } catch (error) {
        logger?.warn({ err: error }, 'a token could not be put back');
      }
    },
  };
}

export interface LocalBuckets {
  take(name: string, policy: RatePolicy, nowMs: number): RateDecision;
  giveBack(name: string, policy: RatePolicy, nowMs: number): void;
}

/** Buckets of this process alone, a bounded number: the one not used for longest goes first. */
export function createLocalBuckets(bucketsMax: number): LocalBuckets {
  const buckets = new Map<string, TokenBucket>();
  return {
    take(name, policy, nowMs) {
      const { bucket, decision } = takeToken(buckets.get(name), policy, nowMs);
      // Deleted first, so that the map stays in the order of use.
      buckets.delete(name);
      buckets.set(name, bucket);
      const [oldest] = buckets.keys();
      if (buckets.size > bucketsMax && oldest !== undefined) buckets.delete(oldest);
      return decision;
    },
    giveBack(name, policy, nowMs) {
      const bucket = buckets.get(name);
      // A bucket that is not there is full.
      if (bucket === undefined) return;
      buckets.set(name, takeToken(bucket, policy, nowMs, -1).bucket);
    },
  };
}
