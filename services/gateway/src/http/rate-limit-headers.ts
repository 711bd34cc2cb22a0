import { policyWindowSeconds, type RateDecision, type RatePolicy } from '@svc/domain';

/** `RateLimit-Policy` and `RateLimit` (CONTRACT 2), on every answer to a tenant. */
export function rateLimitHeaders(
  policy: RatePolicy,
  { left, fullInMs }: RateDecision,
): Readonly<Record<string, string>> {
  return {
    'RateLimit-Policy': `"tenant";q=${policy.burst};w=${policyWindowSeconds(policy)}`,
    RateLimit: `"tenant";r=${left};t=${Math.ceil(fullInMs / 1000)}`,
  };
}
