import { policyWindowSeconds, type RateDecision, type RatePolicy } from '@svc/domain';

/** The `RateLimit-Policy` and `RateLimit` headers of every answer to a tenant (CONTRACT 2). */
export function rateLimitHeaders(
  policy: RatePolicy,
  { left, fullInMs }: RateDecision,
): Readonly<Record<string, string>> {
  return {
    'RateLimit-Policy': `"tenant";q=${policy.burst};w=${policyWindowSeconds(policy)}`,
    RateLimit: `"tenant";r=${left};t=${Math.ceil(fullInMs / 1000)}`,
  };
}
