import { createDurations, type createMetrics } from '@svc/runtime';
import type { ObserveRequest } from './http/exchange.ts';

/** The range goes from a read answered by caches to a creation that waits for the dispatch deadline. */
const bucketsSeconds = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 6, 10];

/** Counts and times requests by the pattern of their route and their status. */
export function createRequestMetrics(registry: ReturnType<typeof createMetrics>): ObserveRequest {
  const observe = createDurations(registry, {
    name: 'svc_gateway_request_duration_seconds',
    help: 'Duration of requests by route and status. Its count is the number of requests.',
    labels: ['route', 'status'],
    bucketsSeconds,
  });
  return ({ route = 'none', status }, durationMs) => {
    observe({ route, status: status === undefined ? 'none' : String(status) }, durationMs / 1000);
  };
}
