import { createDurations, type createMetrics, exposeCounter, exposeGauge } from '@svc/runtime';
import type { RequestObserver } from './http/exchange.ts';

/**
 * The methods that the label `method` shows. All others are shown as `other`, because each method
 * that Node accepts would otherwise create a new time series.
 */
const methods = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']);

export function createRequestMetrics(registry: ReturnType<typeof createMetrics>): RequestObserver {
  const observe = createDurations(registry, 'svc_gateway_request_duration_seconds');
  let inFlight = 0;
  exposeGauge(registry, 'svc_gateway_requests_in_flight', (set) => set({}, inFlight));
  return {
    begun() {
      inFlight += 1;
    },
    observe({ route = 'none', method = 'other', status }, durationMs) {
      inFlight -= 1;
      observe(
        {
          route,
          method: methods.has(method) ? method : 'other',
          status: status === undefined ? 'none' : String(status),
        },
        durationMs / 1000,
      );
    },
  };
}

/** Returns the function that counts a tampered key (`svc_gateway_tampered_keys_total`). */
export function countTamperedKeys(registry: ReturnType<typeof createMetrics>): () => void {
  let count = 0;
  exposeCounter(registry, 'svc_gateway_tampered_keys_total', () => count);
  return () => {
    count += 1;
  };
}
