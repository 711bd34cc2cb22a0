import { createWebhookReceiver, type TenantCredentials, type WebhookReceiver } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { job } from '../support/job.ts';
import { startWholeStack, type WholeStack } from '../support/whole-stack.ts';
import type { WireAnswer, WireRequest } from '../support/wire.ts';

/**
 * Every endpoint that takes the id of a resource gives the same answer for the id of another
 * tenant's resource and for an unknown id.
 */

let whole: WholeStack;
let owner: TenantCredentials;
let stranger: TenantCredentials;
let submissionId: string;
let deliveryId: string;
let keyId: string;
let endpointId: string;
let receiver: WebhookReceiver;

beforeAll(async () => {
  whole = await startWholeStack({ pilot: { outcome: () => undefined } });
  receiver = await createWebhookReceiver();
  owner = await whole.tenant({ webhookUrl: receiver.url });
  stranger = await whole.tenant();
  const created = await whole.askAs(owner, {
    method: 'POST',
    target: '/v1/submissions',
    body: job('mine'),
  });
  submissionId = String(created.body['submissionId']);
  const queued = await whole.askAs(owner, { method: 'POST', target: '/v1/webhooks/test' });
  deliveryId = String(queued.body['deliveryId']);
  const key = await whole.askAs(owner, { method: 'POST', target: '/v1/keys', body: {} });
  keyId = String(key.body['keyId']);
  const endpoint = await whole.askAs(owner, {
    method: 'POST',
    target: '/v1/webhook-endpoints',
    body: { url: null },
  });
  endpointId = String(endpoint.body['id']);
});
afterAll(async () => {
  await whole.close();
  await receiver.close();
});

const unknownSubmission = 'sub_00000000000000000000000000';
const unknownDelivery = 'dlv_00000000000000000000000000';
const unknownKey = 'key_00000000000000000000000000';
const endpointCase = () => ({ id: endpointId, unknown: 'whe_00000000000000000000000000' });

/**
 * For each operation with an id in its path, except `withoutResources`: the id of a resource of the
 * tenant `owner`, and an id that does not exist.
 */
const cases: Readonly<Record<string, () => { id: string; unknown: string }>> = {
  getSubmission: () => ({ id: submissionId, unknown: unknownSubmission }),
  cancelSubmission: () => ({ id: submissionId, unknown: unknownSubmission }),
  getDelivery: () => ({ id: deliveryId, unknown: unknownDelivery }),
  redeliver: () => ({ id: deliveryId, unknown: unknownDelivery }),
  deleteKey: () => ({ id: keyId, unknown: unknownKey }),
  getWebhookEndpoint: endpointCase,
  changeWebhookEndpoint: endpointCase,
  deleteWebhookEndpoint: endpointCase,
  rotateWebhookEndpointSecret: endpointCase,
  testWebhookEndpoint: endpointCase,
  pollWebhookEvents: endpointCase,
};

/**
 * Operations without a case here. The Solana rail is off in this stack, so these operations answer
 * the same for every id. test/solana/api.test.ts tests them with the rail on.
 */
const withoutResources = ['getPurchaseIntent', 'getPurchaseIntentQr', 'awaitPurchaseIntent'];

const withId = () =>
  whole.api.operations.filter(({ path }) => path.startsWith('/v1/') && path.includes('{'));

/** Empties the headers `date` and `ratelimit`, because they may differ between two answers. */
function withoutMoment({ headers }: WireAnswer): object {
  return { ...headers, date: '', ratelimit: '' };
}

test('every endpoint that takes an id has a case', () => {
  expect(
    withId()
      .map(({ operationId }) => operationId)
      .toSorted(),
  ).toEqual([...Object.keys(cases), ...withoutResources].toSorted());
});

test.each(Object.keys(cases))(
  '%s: a foreign id and an unknown one get the same bytes',
  async (name) => {
    const operation = withId().find(({ operationId }) => operationId === name);
    const { id, unknown } = cases[name]?.() ?? { id: '', unknown: '' };
    const ask = async (who: TenantCredentials, one: string): Promise<WireAnswer> => {
      const wire: WireRequest = {
        method: operation?.method.toUpperCase() ?? '',
        target: operation?.path.replace(/\{[^}]+\}/, one) ?? '',
        headers: { 'x-request-id': 'the-same' },
      };
      return whole.askAs(who, wire);
    };
    const foreign = await ask(stranger, id);
    expect(foreign.status).toBe(404);
    for (const other of [unknown, 'malformed', id.toUpperCase(), `${id}%00`, '..%2f..']) {
      const answer = await ask(stranger, other);
      expect(answer.text).toBe(foreign.text);
      expect(withoutMoment(answer)).toEqual(withoutMoment(foreign));
    }
    const route = await whole.askAs(stranger, {
      method: 'GET',
      target: '/v1/nowhere',
      headers: { 'x-request-id': 'the-same' },
    });
    expect(route.text).toBe(foreign.text);
    const own = await whole.askAs(owner, {
      method: 'GET',
      target: `/v1/submissions/${submissionId}`,
    });
    expect(own.body).toMatchObject({ id: submissionId });
    expect(own.body['status']).not.toBe('cancelled');
  },
);

test.each(withoutResources)('%s: every reference gets the same answer', async (name) => {
  const operation = withId().find(({ operationId }) => operationId === name);
  const target = operation?.path.replace(/\{[^}]+\}/, 'reference') ?? '';
  const wire = { method: 'GET', target, headers: { 'x-request-id': 'the-same' } };
  const [own, foreign] = [await whole.askAs(owner, wire), await whole.askAs(stranger, wire)];
  expect(own.status).toBe(409);
  expect(foreign.text).toBe(own.text);
});

test('lists and statements hold no data of other tenants', async () => {
  for (const target of [
    '/v1/submissions',
    `/v1/submissions?idempotencyKey=mine`,
    `/v1/credits/transactions?submissionId=${submissionId}`,
    '/v1/webhooks/deliveries',
    '/v1/audit',
  ]) {
    const own = await whole.askAs(owner, { method: 'GET', target });
    const foreign = await whole.askAs(stranger, { method: 'GET', target });
    expect(own.body['data']).not.toEqual([]);
    expect(foreign.body).toEqual({ data: [], nextCursor: null });
  }
});

test("a stranger neither sees nor deletes a tenant's keys", async () => {
  const list = { method: 'GET', target: '/v1/keys' };
  const [own, foreign] = [await whole.askAs(owner, list), await whole.askAs(stranger, list)];
  expect(own.text).toContain(keyId);
  expect(foreign.text).not.toContain(keyId);
});

test("another tenant's cursor reads only the caller's own list", async () => {
  await whole.askAs(owner, { method: 'POST', target: '/v1/submissions', body: job('second') });
  const first = await whole.askAs(owner, { method: 'GET', target: '/v1/submissions?limit=1' });
  const cursor = String(first.body['nextCursor']);
  const answer = await whole.askAs(stranger, {
    method: 'GET',
    target: `/v1/submissions?limit=1&cursor=${cursor}`,
  });
  expect(answer.body).toEqual({ data: [], nextCursor: null });
});
