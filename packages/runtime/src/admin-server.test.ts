import { afterEach, expect, test } from 'vitest';
import { startAdminServer, type AdminServer } from './admin-server.ts';
import { createLogger } from './logger.ts';
import { createMetrics } from './metrics/registry.ts';

let server: AdminServer | undefined;
afterEach(async () => {
  await server?.close();
});

async function start(ready: () => Promise<readonly string[]>): Promise<string> {
  server = await startAdminServer({
    host: '127.0.0.1',
    port: 0,
    ready,
    metrics: createMetrics('gateway'),
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  return `http://127.0.0.1:${server.port}`;
}

test('a process that is not ready is still live, and names the missing dependencies', async () => {
  const url = await start(async () => ['redis']);
  expect((await fetch(`${url}/live`)).status).toBe(200);
  const response = await fetch(`${url}/ready`);
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({ status: 'not_ready', missing: ['redis'] });
});

test('a ready process answers ready and shows its metrics', async () => {
  const url = await start(async () => []);
  expect(await (await fetch(`${url}/ready`)).json()).toEqual({ status: 'ready' });
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain('process_cpu_user_seconds_total{service="gateway"}');
});

test('a failed readiness check is answered with an error', async () => {
  const url = await start(() => Promise.reject(new Error('no')));
  expect((await fetch(`${url}/ready`)).status).toBe(500);
});
