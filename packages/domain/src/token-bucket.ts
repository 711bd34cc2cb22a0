/**
 * Rate limits (CONTRACT 2: 429): a bucket of `burst` tokens that fills at `perSecond`; a
 * request takes one. The rule of the script in Redis and of the buckets that stand in for it.
 */
export interface RatePolicy {
  readonly perSecond: number;
  /** What a full bucket holds. */
  readonly burst: number;
}

export interface TokenBucket {
  readonly tokens: number;
  /** Of the clock by which it fills. */
  readonly atMs: number;
}

export interface RateDecision {
  readonly allowed: boolean;
  /** Whole tokens left. */
  readonly left: number;
  /** Until the bucket is full again. */
  readonly fullInMs: number;
  /** Until there is a token; 0 where this one was allowed. */
  readonly retryInMs: number;
}

export interface TokenTaking {
  readonly bucket: TokenBucket;
  readonly decision: RateDecision;
}

/** What a bucket holds now; none yet is a full one, and a clock that goes back adds nothing. */
function filled(bucket: TokenBucket | undefined, policy: RatePolicy, nowMs: number): number {
  if (bucket === undefined) return policy.burst;
  const elapsedMs = Math.max(nowMs - bucket.atMs, 0);
  return Math.min(bucket.tokens + (elapsedMs * policy.perSecond) / 1000, policy.burst);
}

/**
 * Takes a token, or `cost` of them, where they are there; a refusal takes nothing. A negative
 * `cost` puts tokens back, up to `burst`.
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
  return { bucket: { tokens, atMs: nowMs }, decision: decisionOf(tokens, allowed, policy) };
}

/** What the tokens left behind a taking or a refusal mean to its client. */
export function decisionOf(tokens: number, allowed: boolean, policy: RatePolicy): RateDecision {
  return {
    allowed,
    left: Math.floor(tokens),
    fullInMs: ((policy.burst - tokens) * 1000) / policy.perSecond,
    retryInMs: allowed ? 0 : ((1 - tokens) * 1000) / policy.perSecond,
  };
}

/** Whether a bucket has a token now; takes none. */
export function hasToken(
  bucket: TokenBucket | undefined,
  policy: RatePolicy,
  nowMs: number,
): boolean {
  return filled(bucket, policy, nowMs) >= 1;
}

/** `w` of `RateLimit-Policy`: burst over rate, rounded up. */
export function policyWindowSeconds({ perSecond, burst }: RatePolicy): number {
  return Math.ceil(burst / perSecond);
}
