import { createMetrics } from '@svc/runtime';
import { expect, test } from 'vitest';
import { createRequestMetrics } from './metrics.ts';

test('requests are counted and timed by route and status, also those without an answer', async () => {
  const registry = createMetrics('gateway');
  const observe = createRequestMetrics(registry);
  observe({ route: '/v1/submissions/:id', status: 200 }, 3);
  observe({ route: '/v1/submissions/:id', status: 200 }, 30);
  observe({ route: undefined, status: undefined }, 1);
  const text = await registry.metrics();
  const line = (suffix: string, labels: string) =>
    text
      .split('\n')
      .find(
        (one) =>
          one.startsWith(`svc_gateway_request_duration_seconds_${suffix}{`) && one.includes(labels),
      );
  const labels = 'route="/v1/submissions/:id",status="200"';
  expect(line('count', labels)).toMatch(/ 2$/);
  expect(line('bucket', `le="0.005",service="gateway",${labels}`)).toMatch(/ 1$/);
  expect(line('count', 'route="none",status="none"')).toMatch(/ 1$/);
});
