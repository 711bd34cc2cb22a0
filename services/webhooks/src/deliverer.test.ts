import { webhookEvents } from '@svc/contracts';
import { toWireId } from '@svc/domain';
import { createLogger } from '@svc/runtime';
import { changeSettings, claimDue } from '@svc/store';
import { testAuthor, verifyWebhook, waitUntil } from '@svc/testkit';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Deliverer, type DelivererDeps } from './deliverer.ts';
import { createWebhooksFixture, type WebhooksFixture } from './webhooks.fixture.ts';

const isEvent = new Ajv2020().compile({ anyOf: Object.values(webhookEvents) });

let fixture: WebhooksFixture;
let tenantId: string;
let deliveryId: string;

beforeAll(async () => {
  fixture = await createWebhooksFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  fixture.receiver.answerWith(() => ({ status: 204 }));
  tenantId = await fixture.tenant();
  deliveryId = await fixture.delivery(tenantId);
});

async function make(deps: Partial<DelivererDeps> = {}): Promise<void> {
  const deliverer = new Deliverer({ ...fixture.deps, ...deps });
  deliverer.wake([tenantId]);
  await deliverer.idle();
  await deliverer.close();
}

const received = () => {
  const id = toWireId('dlv', deliveryId);
  return fixture.receiver.received.filter((webhook) => webhook.deliveryId === id);
};

test('an attempt has the stored body and the headers that tenants verify', async () => {
  fixture.receiver.answerWith(() => ({ status: 200, body: 'thanks' }));
  await make();
  const [webhook] = received();
  if (webhook === undefined) throw new Error('nothing arrived');
  verifyWebhook(webhook, fixture.secret);
  expect(isEvent(webhook.event)).toBe(true);
  expect(webhook.event).toMatchObject({ type: 'submission.cancelled', data: { by: 'tenant' } });
  const id = toWireId('dlv', deliveryId);
  expect(webhook.headers).toMatchObject({
    'content-type': 'application/json',
    'x-svc-delivery': id,
    'webhook-id': id,
    'x-svc-attempt': '1',
    'user-agent': 'svc-webhooks/1',
  });
  expect(await fixture.read(deliveryId)).toMatchObject({ status: 'delivered', due_in_ms: null });
  expect(await fixture.attempts(deliveryId)).toEqual([
    { number: 1, status_code: 200, error: null, response: 'thanks' },
  ]);
});

test('a delivered delivery is not attempted again, and two at once attempt it once', async () => {
  await Promise.all([make(), make(), make()]);
  await make();
  expect(received()).toHaveLength(1);
});

test('a failed attempt is logged and retried when it is due, not before', async () => {
  fixture.receiver.answerWith(() => ({ status: 500, body: 'no' }));
  await make();
  const { status, due_in_ms: dueInMs } = await fixture.read(deliveryId);
  expect(status).toBe('pending');
  expect(dueInMs).toBeGreaterThan(4_000);
  expect(dueInMs).toBeLessThanOrEqual(5_000);
  await make();
  expect(received()).toHaveLength(1);
  fixture.receiver.answerWith(() => ({ status: 204 }));
  await fixture.advance(5_000);
  await make();
  expect(received().map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect(received()[1]?.body).toBe(received()[0]?.body);
  expect(await fixture.attempts(deliveryId)).toMatchObject([
    { number: 1, status_code: 500, response: 'no' },
    { number: 2, status_code: 204 },
  ]);
});

test('after eight attempts over eight hours the delivery is exhausted', async () => {
  fixture.receiver.answerWith(() => ({ status: 503 }));
  for (const seconds of [0, ...fixture.deps.backoffSeconds]) {
    await fixture.advance(seconds * 1_000);
    await make();
  }
  await fixture.advance(72 * 3_600_000);
  await make();
  expect(received().map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(await fixture.read(deliveryId)).toMatchObject({ status: 'exhausted', due_in_ms: null });
});

test('an attempt that was never recorded counts', async () => {
  await claimDue(fixture.deps.store, [{ tenantId, attemptsMax: 1 }]);
  await make();
  expect(received()).toHaveLength(0);
  await fixture.advance(30_000);
  await make();
  expect(received().map(({ attempt }) => attempt)).toEqual([2]);
});

test('Retry-After of a 503 moves the next attempt later', async () => {
  fixture.receiver.answerWith(() => ({ status: 503, headers: { 'retry-after': '9' } }));
  await make();
  const { due_in_ms: dueInMs } = await fixture.read(deliveryId);
  expect(dueInMs).toBeGreaterThan(8_000);
  expect(dueInMs).toBeLessThanOrEqual(9_000);
});

test('a 410 disables the URL and drops the pending deliveries', async () => {
  const other = await fixture.delivery(tenantId);
  fixture.receiver.answerWith(() => ({ status: 410 }));
  await make({ endpointRequestsMax: 1 });
  expect(await fixture.read(deliveryId)).toMatchObject({ status: 'dropped' });
  expect(await fixture.read(other)).toMatchObject({ status: 'dropped', attempt_count: 0 });
});

test('the current URL is used, even if another one was set at the event', async () => {
  await changeSettings(
    fixture.deps.store,
    tenantId,
    { webhookUrl: `${fixture.receiver.url}moved` },
    testAuthor,
  );
  await make();
  expect(received().map(({ path }) => path)).toEqual(['/moved']);
});

test.each([
  ['cut', 'cut' as const],
  ['redirected', { status: 307, headers: { location: '/elsewhere' } }],
])('an attempt that is %s fails, and nothing is followed', async (_how, answer) => {
  fixture.receiver.answerWith(() => answer);
  await make();
  expect(received()).toHaveLength(1);
  expect(await fixture.read(deliveryId)).toMatchObject({ status: 'pending', attempt_count: 1 });
});

test('a URL that must not be contacted is an attempt with its reason', async () => {
  await changeSettings(
    fixture.deps.store,
    tenantId,
    { webhookUrl: 'https://user:pass@127.0.0.1/' },
    testAuthor,
  );
  await make();
  expect(await fixture.attempts(deliveryId)).toMatchObject([
    { status_code: null, error: 'the URL must not contain a user name or password' },
  ]);
});

test('the first KiB of a long response is kept, cut between characters if needed', async () => {
  fixture.receiver.answerWith(() => ({ status: 200, body: `\0${'é'.repeat(100_000)}` }));
  await make();
  const [attempt] = await fixture.attempts(deliveryId);
  expect(attempt?.response?.startsWith('ééé')).toBe(true);
  expect(Buffer.byteLength(attempt?.response ?? '')).toBeLessThanOrEqual(1_026);
});

test('a silent endpoint does not block another', async () => {
  const silentEndpoint = Promise.withResolvers<void>();
  fixture.receiver.answerWith(async (webhook) => {
    if (webhook.path === '/silent') await silentEndpoint.promise;
    return { status: 204 };
  });
  const otherTenantId = await fixture.tenant(`${fixture.receiver.url}silent`);
  const stuck = await Promise.all([1, 2, 3].map(() => fixture.delivery(otherTenantId)));
  const deliverer = new Deliverer(fixture.deps);
  deliverer.wake([otherTenantId, tenantId]);
  await waitUntil(async () => (await fixture.read(deliveryId)).status === 'delivered');
  expect((await fixture.read(stuck[0] ?? '')).status).toBe('pending');
  silentEndpoint.resolve();
  await deliverer.close();
});

test('deliveries that are not claimed when the service stops stay due', async () => {
  const deliverer = new Deliverer(fixture.deps);
  await deliverer.close();
  deliverer.wake([tenantId]);
  expect(await fixture.read(deliveryId)).toMatchObject({ status: 'pending', attempt_count: 0 });
});

test('each attempt is logged under the request that caused it, without its body', async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  await make({
    logger: createLogger({ service: 'webhooks', level: 'info', destination }),
  });
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    requestId: 'req-1',
    deliveryId: toWireId('dlv', deliveryId),
    attemptNumber: 1,
    statusCode: 204,
    verdict: { kind: 'delivered' },
  });
  expect(lines[0]).not.toContain('jobType');
});

test('a deliverer that ends waits for the attempts in flight, and records them', async () => {
  const arrived = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  fixture.receiver.answerWith(async () => {
    arrived.resolve();
    await answer.promise;
    return { status: 204 };
  });
  const deliverer = new Deliverer(fixture.deps);
  deliverer.wake([tenantId]);
  await arrived.promise;
  const closed = deliverer.close();
  answer.resolve();
  await closed;
  expect(await fixture.read(deliveryId)).toMatchObject({ status: 'delivered' });
});

test('a deliverer claims nothing while it is paused, and goes on by itself after that', async () => {
  const deliverer = new Deliverer(fixture.deps);
  deliverer.setPaused(true);
  deliverer.wake([tenantId]);
  await deliverer.idle();
  expect(received()).toEqual([]);
  deliverer.setPaused(false);
  await waitUntil(async () => (await fixture.read(deliveryId)).status === 'delivered');
  await deliverer.close();
});

test.each([
  [
    'the service has no webhook secret for this URL, or cannot decrypt it',
    `DELETE FROM tenant_secrets WHERE tenant_id = $1 AND kind = 'webhook'`,
  ],
  [
    'the service cannot decrypt the event',
    `UPDATE events SET body_sealed = '\\x00' WHERE tenant_id = $1`,
  ],
])('an attempt that cannot be sent because %s is recorded with that', async (error, sql) => {
  await fixture.database.query(sql, [tenantId]);
  await make();
  expect(received()).toEqual([]);
  expect(await fixture.attempts(deliveryId)).toMatchObject([{ status_code: null, error }]);
});

test('a retry counts as one, unless it would come after 72 hours', async () => {
  const counted: string[] = [];
  const countAttempt = (verdict: string) => void counted.push(verdict);
  const deps = { countAttempt, backoffSeconds: [120, 300_000] };
  fixture.receiver.answerWith(() => ({ status: 500 }));
  await make(deps);
  await fixture.advance(120_000);
  await make(deps);
  expect(counted).toEqual(['retry', 'exhausted']);
  expect(await fixture.read(deliveryId)).toMatchObject({ status: 'exhausted', attempt_count: 2 });
});
