import { decisionOf, type RateDecision, type RatePolicy } from '@svc/domain';
import { aheadLeaseMs } from './rate-limit-script.ts';

/**
 * A gateway gives no tokens in advance in this last part of its lease. So before the lease ends,
 * Redis has time to take the tokens that were given in advance.
 */
const leaseMarginMs = 1_000;
const bucketsMax = 10_000;

/** The state of a bucket in Redis, as far as this gateway knows it. */
export interface KnownBucket {
  /** The tokens in the bucket according to the last answer of Redis, which arrived at `atMs`. */
  tokens: number;
  atMs: number;
  /** The most tokens that this gateway may give before Redis confirms them. */
  aheadMax: number;
  /**
   * If `aheadMax` is above 0, this gateway may give tokens of the bucket in advance until this
   * time. No other gateway may do so before this time.
   */
  aheadUntilMs: number;
  /** The number of tokens given in advance that Redis has not confirmed. */
  unconfirmed: number;
}

interface Answer {
  readonly tokens: number;
  readonly aheadMax: number;
  readonly sentMs: number;
  readonly nowMs: number;
}

/**
 * Only one gateway at a time gives tokens of a bucket before Redis takes them. So a limit is
 * exceeded by at most `aheadMax`, unless Redis is unreachable (CONTRACT 2).
 */
export interface TokensAhead {
  /** Gives a token in advance. Undefined if the caller must ask Redis for a token instead. */
  take(
    name: string,
    policy: RatePolicy,
    nowMs: number,
  ): { readonly decision: RateDecision; readonly bucket: KnownBucket } | undefined;
  learn(name: string, answer: Answer): void;
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
      // The map must be in the order of use. A `set` without `delete` would leave the bucket in its
      // old place.
      buckets.delete(name);
      buckets.set(name, bucket);
      const [oldest] = buckets.keys();
      if (buckets.size > bucketsMax && oldest !== undefined) buckets.delete(oldest);
    },
    forget: (name) => void buckets.delete(name),
  };
}
