import { createWebhookReceiver, startStack, type TestStack, waitUntil } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { job } from '../support/job.ts';
import { send, signedBy, type WireAnswer } from '../support/wire.ts';

/** `svc … --json` prints each record with every member that the API shows (CONTRACT 9). */

let stack: TestStack;
let receiver: Awaited<ReturnType<typeof createWebhookReceiver>>;
let tenant: Awaited<ReturnType<TestStack['createTenant']>>;
beforeAll(async () => {
  [stack, receiver] = await Promise.all([startStack({ nodes: 1 }), createWebhookReceiver()]);
  tenant = await stack.createTenant({ grantCredits: 5_000, webhookUrl: receiver.url });
});
afterAll(async () => {
  await stack.close();
  await receiver.close();
});

const ask = (method: string, target: string, body?: object): Promise<WireAnswer> =>
  send(
    stack.gatewayUrl,
    signedBy(tenant, { method, target, ...(body === undefined ? {} : { body }) }),
  );
const get = async (target: string) => (await ask('GET', target)).body;
const svc = async (...words: string[]) => Object(await stack.svc(words));

test('a balance is the record of GET /v1/credits/balance', async () => {
  expect(await svc('credits', 'balance', tenant.tenantId)).toEqual(
    await get('/v1/credits/balance'),
  );
});

test('a rate card is the record of GET /v1/rate-card', async () => {
  const shown = await svc('rate-card', 'show', '--tenant', tenant.tenantId);
  expect(shown).toEqual(await get('/v1/rate-card'));
});

test('a tenant has every member of GET /v1/settings', async () => {
  const settings = await get('/v1/settings');
  expect(await svc('tenant', 'show', tenant.tenantId)).toMatchObject(settings);
});

test('a submission and a delivery have every member of their records', async () => {
  const created = await ask('POST', '/v1/submissions', job('svc-json'));
  const id = String(created.body['submissionId']);
  await waitUntil(async () => (await get(`/v1/submissions/${id}`))['status'] === 'submitted', {
    timeoutMs: 30_000,
  });
  const submission = await get(`/v1/submissions/${id}`);
  expect(await svc('submission', 'show', id)).toMatchObject(submission);
  const listed = await stack.svc(['submission', 'list', '--tenant', tenant.tenantId]);
  expect(listed).toMatchObject([submission]);

  const deliveries = async () => Object((await get('/v1/webhooks/deliveries'))['data']);
  await waitUntil(async () => (await deliveries())[0]?.status === 'delivered', {
    timeoutMs: 30_000,
  });
  const [delivery] = await deliveries();
  expect(await svc('webhook', 'show', delivery.id)).toMatchObject(delivery);
  expect(await stack.svc(['webhook', 'list'])).toMatchObject([delivery]);
  const again = await ask('POST', `/v1/webhooks/deliveries/${delivery.id}/redeliver`);
  await waitUntil(async () => (await deliveries())[0]?.status === 'delivered');
  expect(await svc('webhook', 'redeliver', delivery.id)).toMatchObject(again.body);
});

test('a grant is the answer of POST /v1/credits/purchase', async () => {
  const operator = await svc('operator', 'create', '--name', 'Ops');
  expect(operator).toMatchObject({ operatorId: expect.stringMatching(/^op_/) });
  const granted = await svc('credits', 'grant', tenant.tenantId, '5', '--reference', 'R-1');
  expect(granted).toEqual({
    purchaseId: expect.stringMatching(/^pur_/),
    tenantId: tenant.tenantId,
    credits: 5,
    balance: { after: expect.any(Number) },
  });
});
