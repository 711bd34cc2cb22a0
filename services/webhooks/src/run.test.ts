import { announceDeliveries } from '@svc/queue';
import { silent } from '@svc/startup/fixture';
import { openHandles, waitUntil } from '@svc/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WebhooksConfig } from './config.ts';
import { run } from './run.ts';
import { createWebhooksFixture, type WebhooksFixture } from './webhooks.fixture.ts';

let fixture: WebhooksFixture;
const running: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  fixture = await createWebhooksFixture();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()));
  await fixture.close();
});

function configOf(overrides: Partial<WebhooksConfig>): WebhooksConfig {
  return {
    ...fixture.config,
    WEBHOOK_BACKOFF_SECONDS: '0.2,0.2,60',
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: '1',
    WEBHOOK_ENDPOINT_REQUESTS: 8,
    WEBHOOK_REQUESTS_MAX: 512,
    ...overrides,
  };
}

async function start(overrides: Partial<WebhooksConfig> = {}): Promise<string> {
  const service = await run(configOf(overrides), { logger: silent });
  running.push(service);
  return `http://127.0.0.1:${service.adminPort}`;
}

const statusOf = async (deliveryId: string) => (await fixture.read(deliveryId)).status;

test('two deliverers deliver each event once', async () => {
  const urls = [await start(), await start()];
  for (const url of urls) await waitUntil(async () => (await fetch(`${url}/ready`)).ok);
  const tenantId = await fixture.tenant();
  const ids = await Promise.all(Array.from({ length: 20 }, () => fixture.delivery(tenantId)));
  await announceDeliveries(fixture.producer, [tenantId]);
  await waitUntil(async () => {
    const statuses = await Promise.all(ids.map(statusOf));
    return statuses.every((status) => status === 'delivered');
  });
  expect(fixture.receiver.received).toHaveLength(20);
  const metrics = await Promise.all(
    urls.map(async (url) => (await fetch(`${url}/metrics`)).text()),
  );
  expect(metrics.join('')).toContain('svc_webhook_attempts_total{verdict="delivered"');
});

test('deliveries that were never enqueued or were lost by FLUSHALL are found', async () => {
  fixture.receiver.answerWith(({ attempt }) => ({ status: attempt === 1 ? 500 : 204 }));
  await start({ WEBHOOK_BACKOFF_SECONDS: '0.3' });
  const deliveryId = await fixture.delivery(await fixture.tenant());
  await fixture.receiver.waitFor(({ attempt }) => attempt === 1);
  await fixture.redis.flush();
  await fixture.receiver.waitFor(({ attempt }) => attempt === 2);
  await waitUntil(async () => (await statusOf(deliveryId)) === 'delivered');
  expect(fixture.receiver.received).toHaveLength(2);
});

test('a retry is sent when it is due by the clock of the database', async () => {
  fixture.receiver.answerWith(({ attempt }) => ({ status: attempt < 4 ? 500 : 204 }));
  await start();
  const deliveryId = await fixture.delivery(await fixture.tenant());
  await fixture.receiver.waitFor(({ attempt }) => attempt === 3);
  await waitUntil(async () => ((await fixture.read(deliveryId)).due_in_ms ?? 0) > 50_000);
  await fixture.advance(66_000);
  await fixture.receiver.waitFor(({ attempt }) => attempt === 4);
  await waitUntil(async () => (await statusOf(deliveryId)) === 'delivered');
  expect(fixture.receiver.received.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
});

test('if private networks are not allowed, nothing is sent to this machine', async () => {
  await start({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: '0', WEBHOOK_BACKOFF_SECONDS: '60' });
  const deliveryId = await fixture.delivery(await fixture.tenant('https://localhost/hook'));
  const [attempt] = await waitUntil(async () => {
    const attempts = await fixture.attempts(deliveryId);
    return attempts[0]?.error === null ? false : attempts.length > 0 && attempts;
  });
  expect(attempt).toMatchObject({
    status_code: null,
    error: 'the URL must have a public host name or address',
  });
});

test('a stopping service aborts requests without an answer, and the rest stays due', async () => {
  fixture.receiver.answerWith(() => 'no answer');
  const service = await start();
  expect(service).toContain('http');
  const deliveryId = await fixture.delivery(await fixture.tenant());
  await fixture.receiver.waitFor(({ attempt }) => attempt === 1);
  await Promise.all(running.splice(0).map((one) => one.close()));
  expect(await fixture.attempts(deliveryId)).toMatchObject([
    { number: 1, status_code: null, error: 'cancelled because the service is stopping' },
  ]);
  expect(await statusOf(deliveryId)).toBe('pending');
});

test('a database of another environment and an invalid schedule are refused', async () => {
  await start();
  await expect(start({ SVC_ENVIRONMENT: 'production' })).rejects.toThrow('belongs to sandbox');
  await expect(start({ WEBHOOK_BACKOFF_SECONDS: 'soon' })).rejects.toThrow(
    'WEBHOOK_BACKOFF_SECONDS',
  );
});

test('a deliverer that was closed has no timer, server or connection left', async () => {
  const before = openHandles();
  const worker = await run(configOf({ RECONCILE_INTERVAL_MS: 60_000 }), { logger: silent });
  await worker.close();
  expect(await waitUntil(() => openHandles() <= before)).toBe(true);
});
