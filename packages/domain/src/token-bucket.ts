/**
 * A bucket of `burst` tokens that fills at `perSecond` (CONTRACT 2). The script for the shared
 * buckets in Redis follows the same rule.
 */
export interface RatePolicy {
  readonly perSecond: number;
  readonly burst: number;
}

export interface TokenBucket {
  readonly tokens: number;
  /** The `nowMs` of the call of `takeToken` that returned this bucket. */
  readonly atMs: number;
}

export interface RateDecision {
  readonly allowed: boolean;
  readonly left: number;
  readonly fullInMs: number;
  /**
   * Milliseconds until the bucket has the tokens that were asked for. 0 if `allowed`, because they
   * are taken already.
   */
  readonly retryInMs: number;
}

export interface TokenTaking {
  readonly bucket: TokenBucket;
  readonly decision: RateDecision;
}

function filled(bucket: TokenBucket | undefined, policy: RatePolicy, nowMs: number): number {
  if (bucket === undefined) return policy.burst;
  const elapsedMs = Math.max(nowMs - bucket.atMs, 0);
  return Math.min(bucket.tokens + (elapsedMs * policy.perSecond) / 1000, policy.burst);
}

/**
 * Takes one token, or `cost` tokens, if they are available. A refusal takes nothing. A negative
 * `cost` returns tokens, up to `burst`.
 */
export function takeToken(
  bucket: TokenBucket | undefined,
  policy: RatePolicy,
  nowMs: number,
  cost = 1,
): TokenTaking {
  const before = filled(bucket, policy, nowMs);
  const allowed = before >= cost;
  const tokens = allowed ? Math.min(before - cost, policy.burst) : before;
  const decision = decisionOf(tokens, allowed, policy, cost);
  return { bucket: { tokens, atMs: nowMs }, decision };
}

export function decisionOf(
  tokens: number,
  allowed: boolean,
  policy: RatePolicy,
  cost = 1,
): RateDecision {
  return {
    allowed,
    left: Math.max(Math.floor(tokens), 0),
    fullInMs: ((policy.burst - tokens) * 1000) / policy.perSecond,
    retryInMs: allowed ? 0 : ((cost - tokens) * 1000) / policy.perSecond,
  };
}

/** `w` of `RateLimit-Policy`: the seconds in which an empty bucket becomes full, rounded up. */
export function policyWindowSeconds({ perSecond, burst }: RatePolicy): number {
  return Math.ceil(burst / perSecond);
}
