import { createMetrics } from '@svc/runtime';
import { expect, test } from 'vitest';
import { createRequestMetrics } from './metrics.ts';

test('requests are counted and timed by route, method and status, also those without an answer', async () => {
  const registry = createMetrics('gateway');
  const { begun, observe } = createRequestMetrics(registry);
  for (let request = 0; request < 4; request += 1) begun();
  observe({ route: '/v1/submissions/:id', method: 'GET', status: 200 }, 3);
  observe({ route: '/v1/submissions/:id', method: 'GET', status: 200 }, 30);
  observe({ route: undefined, method: 'BREW', status: undefined }, 1);
  const text = await registry.metrics();
  const line = (name: string, labels: string) =>
    text.split('\n').find((one) => one.startsWith(`svc_gateway_${name}{`) && one.includes(labels));
  const labels = 'route="/v1/submissions/:id",method="GET",status="200"';
  expect(line('request_duration_seconds_count', labels)).toMatch(/ 2$/);
  const bucket = `le="0.005",service="gateway",${labels}`;
  expect(line('request_duration_seconds_bucket', bucket)).toMatch(/ 1$/);
  const none = 'route="none",method="other",status="none"';
  expect(line('request_duration_seconds_count', none)).toMatch(/ 1$/);
  expect(line('requests_in_flight', '')).toMatch(/ 1$/);
});
