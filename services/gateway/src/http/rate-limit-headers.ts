import { policyWindowSeconds, type RateDecision, type RatePolicy } from '@svc/domain';

export interface RateLimitState {
  readonly policy: RatePolicy;
  readonly decision: RateDecision;
}

/**
 * The `RateLimit-Policy` and `RateLimit` headers of answers to an authenticated tenant
 * (CONTRACT 2). Names and values alternate in the array.
 */
export function rateLimitHeaders({ policy, decision }: RateLimitState): readonly string[] {
  return [
    'RateLimit-Policy',
    `"tenant";q=${policy.burst};w=${policyWindowSeconds(policy)}`,
    'RateLimit',
    `"tenant";r=${decision.left};t=${Math.ceil(decision.fullInMs / 1000)}`,
  ];
}
