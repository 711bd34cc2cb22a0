import { decisionOf, type RateDecision, type RatePolicy } from '@svc/domain';
import { aheadLeaseMs } from './rate-limit-script.ts';

/** A gateway stops this long before another one may start. Redis knows its last tokens by then. */
const leaseMarginMs = 1_000;
const bucketsMax = 10_000;

/** The state of a bucket in Redis, as far as this gateway knows it. */
export interface KnownBucket {
  /** By the last answer of Redis, at `atMs`. */
  tokens: number;
  atMs: number;
  /** The most tokens that Redis may not know of. */
  aheadMax: number;
  /** Until then this gateway alone may run ahead of the bucket. */
  aheadUntilMs: number;
  /** The tokens given ahead that Redis has not confirmed. */
  unconfirmed: number;
}

/** The answer of Redis to a call that was sent at `sentMs`. */
interface Answer {
  readonly tokens: number;
  readonly aheadMax: number;
  readonly sentMs: number;
  readonly nowMs: number;
}

/**
 * Gives tokens without a wait for Redis: at most `aheadMax` that Redis does not know of, from a bucket
 * that had enough by the last answer, and only in the one gateway that Redis has chosen. So all
 * gateways together exceed the limit by 20 ms worth at most (CONTRACT 2), and a rate below 50 a second
 * is exact. The bucket then owes these tokens.
 */
export interface TokensAhead {
  /** Undefined if the caller must ask Redis. */
  take(
    name: string,
    policy: RatePolicy,
    nowMs: number,
  ): { readonly decision: RateDecision; readonly bucket: KnownBucket } | undefined;
  learn(name: string, answer: Answer): void;
  /** The next token of the bucket is taken from Redis. */
  forget(name: string): void;
}

export function createTokensAhead(): TokensAhead {
  const buckets = new Map<string, KnownBucket>();
  return {
    take(name, policy, nowMs) {
      const bucket = buckets.get(name);
      if (bucket === undefined || nowMs >= bucket.aheadUntilMs) return undefined;
      if (bucket.unconfirmed >= bucket.aheadMax) return undefined;
      const refilled = ((nowMs - bucket.atMs) * policy.perSecond) / 1000;
      const tokens = Math.min(bucket.tokens + refilled, policy.burst) - bucket.unconfirmed;
      if (tokens < 1) return undefined;
      bucket.unconfirmed += 1;
      return { decision: decisionOf(tokens - 1, true, policy), bucket };
    },
    learn(name, { tokens, aheadMax, sentMs, nowMs }) {
      const aheadUntilMs = sentMs + aheadLeaseMs - leaseMarginMs;
      const known = { tokens, atMs: nowMs, aheadMax, aheadUntilMs };
      const bucket = Object.assign(buckets.get(name) ?? { ...known, unconfirmed: 0 }, known);
      // Deletes first, so that the map stays in the order of use.
      buckets.delete(name);
      buckets.set(name, bucket);
      const [oldest] = buckets.keys();
      if (buckets.size > bucketsMax && oldest !== undefined) buckets.delete(oldest);
    },
    forget: (name) => void buckets.delete(name),
  };
}
