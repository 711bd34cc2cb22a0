import {
  createWebhookReceiver,
  type TenantCredentials,
  verifyWebhook,
  waitUntil,
  type WebhookReceiver,
} from '@svc/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OperatorKey, signedByOperator } from '../support/accounts.ts';
import { job } from '../support/job.ts';
import { startWholeStack, type WholeStack } from '../support/whole-stack.ts';
import type { WireAnswer } from '../support/wire.ts';

/**
 * Endpoints of CONTRACT 5 and 12, such as lists, settings, keys and webhook endpoints. Also the
 * rate limit (CONTRACT 2).
 */

let whole: WholeStack;
let receiver: WebhookReceiver;
let operator: OperatorKey;

beforeAll(async () => {
  [whole, receiver] = await Promise.all([startWholeStack(), createWebhookReceiver()]);
  operator = await whole.operator('till');
});
afterAll(async () => {
  await whole.close();
  await receiver.close();
});

const get = (tenant: TenantCredentials, target: string) =>
  whole.askAs(tenant, { method: 'GET', target });
const create = (tenant: TenantCredentials, key: string) =>
  whole.askAs(tenant, { method: 'POST', target: '/v1/submissions', body: job(key) });
const createKey = (tenant: TenantCredentials, body: object) =>
  whole.askAs(tenant, { method: 'POST', target: '/v1/keys', body });
const patch = (tenant: TenantCredentials, body: object | string) =>
  whole.askAs(tenant, { method: 'PATCH', target: '/v1/settings', body });

function itemsOf({ body }: WireAnswer): Record<string, unknown>[] {
  return Object.values(Object(body['data'])).map((item) => Object(item));
}

async function settled(tenant: TenantCredentials): Promise<void> {
  await waitUntil(async () => {
    const items = itemsOf(await get(tenant, '/v1/submissions?limit=100'));
    return items.every(({ finishedAt }) => finishedAt !== null);
  });
}

async function allOf(tenant: TenantCredentials, path: string): Promise<Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = [];
  let cursor = '';
  do {
    const answer = await get(tenant, `${path}${cursor}`);
    expect(answer.status).toBe(200);
    items.push(...itemsOf(answer));
    const next = answer.body['nextCursor'];
    cursor = typeof next === 'string' ? `&cursor=${next}` : '';
  } while (cursor !== '');
  return items;
}

describe('lists', () => {
  let tenant: TenantCredentials;
  beforeAll(async () => {
    tenant = await whole.tenant();
    for (let index = 0; index < 5; index += 1) await create(tenant, `key-${index}`);
    await settled(tenant);
  });

  test('are newest first, in full, and end with a null cursor', async () => {
    const { body } = await get(tenant, '/v1/submissions');
    const items = itemsOf(await get(tenant, '/v1/submissions'));
    expect(items.map(({ idempotencyKey }) => idempotencyKey)).toEqual([
      'key-4',
      'key-3',
      'key-2',
      'key-1',
      'key-0',
    ]);
    expect(body['nextCursor']).toBeNull();
    const one = await get(tenant, `/v1/submissions/${String(items[0]?.['id'])}`);
    expect(one.body).toEqual(items[0]);
  });

  test('pages of any size together make the whole list', async () => {
    for (const path of ['/v1/submissions', '/v1/credits/transactions']) {
      const whole5 = await allOf(tenant, `${path}?limit=100`);
      expect(await allOf(tenant, `${path}?limit=2`)).toEqual(whole5);
      expect(await allOf(tenant, `${path}?limit=1`)).toEqual(whole5);
    }
  });

  test('are filtered by key, status and time: from inclusive, to exclusive', async () => {
    const [byKey] = itemsOf(await get(tenant, '/v1/submissions?idempotencyKey=key-2'));
    expect(byKey).toMatchObject({ idempotencyKey: 'key-2', status: 'submitted' });
    expect(itemsOf(await get(tenant, '/v1/submissions?status=failed'))).toEqual([]);
    const at = encodeURIComponent(String(byKey?.['createdAt']));
    const keys = async (query: string) =>
      itemsOf(await get(tenant, `/v1/submissions?${query}`)).map((item) => item['idempotencyKey']);
    expect(await keys(`createdAfter=${at}`)).toEqual(expect.arrayContaining(['key-2', 'key-4']));
    expect(await keys(`createdBefore=${at}`)).not.toContain('key-2');
  });

  test.each([
    ['/v1/submissions?limit=0', 'limit'],
    ['/v1/submissions?limit=101', 'limit'],
    ['/v1/submissions?limit=1.5', 'limit'],
    ['/v1/submissions?limit=1&limit=2', 'limit'],
    ['/v1/submissions?status=gone', 'status'],
    ['/v1/submissions?createdAfter=yesterday', 'createdAfter'],
    ['/v1/submissions?cursor=forged', 'cursor'],
    ['/v1/submissions?page=2', 'page'],
    ['/v1/credits/transactions?type=gift', 'type'],
    ['/v1/webhooks/deliveries?status=lost', 'status'],
  ])('a bad parameter is named: %s', async (target, parameter) => {
    const { status, body } = await get(tenant, target);
    expect(status).toBe(422);
    expect(body['errors']).toEqual([expect.objectContaining({ path: '', parameter })]);
  });
});

describe('the statement', () => {
  test('has every movement, positive amounts, and the figures after each', async () => {
    const tenant = await whole.tenant({ grantCredits: 1_000 });
    const created = await create(tenant, 'one');
    await settled(tenant);
    const lines = itemsOf(await get(tenant, '/v1/credits/transactions'));
    const { body: record } = await get(
      tenant,
      `/v1/submissions/${String(created.body['submissionId'])}`,
    );
    const charged = Number(record['actualCredits']);
    const amounts = Object.fromEntries(lines.map(({ type, amount }) => [type, amount]));
    expect(lines).toHaveLength(4);
    expect(amounts).toEqual({ grant: 1_000, hold: 200, charge: charged, release: 200 - charged });
    expect(lines[0]).toMatchObject({
      balanceAfter: 1_000 - charged,
      heldAfter: 0,
      availableAfter: 1_000 - charged,
      submissionId: created.body['submissionId'],
    });
    const holds = itemsOf(await get(tenant, '/v1/credits/transactions?type=hold'));
    expect(holds).toHaveLength(1);
    expect(holds[0]).toMatchObject({ balanceAfter: 1_000, heldAfter: 200, availableAfter: 800 });
  });
});

describe('settings', () => {
  test('omitted members stay, null clears, the answer has all settings', async () => {
    const tenant = await whole.tenant();
    const before = await get(tenant, '/v1/settings');
    expect(before.body).toEqual({
      webhookUrl: null,
      lowBalanceThreshold: 1000,
      webhookDisabled: null,
      allowedJobTypes: ['ats.application'],
      tenantId: tenant.tenantId,
      environment: 'sandbox',
    });
    const url = 'https://hooks.example.com/in';
    const withUrl = { ...before.body, webhookUrl: url };
    expect((await patch(tenant, { webhookUrl: url })).body).toEqual(withUrl);
    const both = { ...withUrl, lowBalanceThreshold: 12.345678 };
    expect((await patch(tenant, '{"lowBalanceThreshold":12.345678}')).body).toEqual(both);
    expect((await patch(tenant, {})).body).toEqual(both);
    const cleared = await patch(tenant, { webhookUrl: null });
    expect(cleared.body).toEqual({ ...both, webhookUrl: null });
    expect((await get(tenant, '/v1/settings')).body).toEqual(cleared.body);
  });

  test.each([
    ['an unknown member', '{"webhookURL":null}', '/webhookURL'],
    ['a read-only member', '{"tenantId":"tnt_x"}', '/tenantId'],
    ['seven decimals', '{"lowBalanceThreshold":0.0000001}', '/lowBalanceThreshold'],
    ['a negative threshold', '{"lowBalanceThreshold":-1}', '/lowBalanceThreshold'],
    ['a malformed URL', '{"webhookUrl":"hooks"}', '/webhookUrl'],
    ['another scheme', '{"webhookUrl":"ftp://hooks.example.com/"}', '/webhookUrl'],
    ['credentials in the URL', '{"webhookUrl":"https://a:b@hooks.example.com/"}', '/webhookUrl'],
    ['a repeated member', '{"webhookUrl":null,"webhookUrl":null}', '/webhookUrl'],
  ])('%s is refused with its path', async (_name, body, path) => {
    const answer = await patch(await shared(), body);
    expect(answer.status).toBe(422);
    expect(answer.body['errors']).toEqual([expect.objectContaining({ path })]);
  });
});

let sharedTenant: Promise<TenantCredentials> | undefined;
const shared = () => (sharedTenant ??= whole.tenant());

describe('webhooks', () => {
  test('a test event is delivered, listed, and sent again as the same delivery', async () => {
    const tenant = await whole.tenant({ webhookUrl: receiver.url });
    const queued = await whole.askAs(tenant, { method: 'POST', target: '/v1/webhooks/test' });
    expect(queued.status).toBe(202);
    const id = String(queued.body['deliveryId']);
    const first = await receiver.waitFor(({ deliveryId }) => deliveryId === id);
    verifyWebhook(first, tenant.webhookSecret);
    expect(first.event).toMatchObject({ type: 'webhook.test', data: {} });
    const target = `/v1/webhooks/deliveries/${id}`;
    await waitUntil(async () => (await get(tenant, target)).body['status'] === 'delivered');
    const { body } = await get(tenant, target);
    expect(body).toMatchObject({
      id,
      type: 'webhook.test',
      nextAttemptAt: null,
      attempts: [{ number: 1, error: null, statusCode: expect.any(Number) }],
    });
    expect(itemsOf(await get(tenant, '/v1/webhooks/deliveries?status=delivered'))).toEqual([body]);
    const again = await whole.askAs(tenant, { method: 'POST', target: `${target}/redeliver` });
    expect([again.status, again.body]).toEqual([202, { deliveryId: id }]);
    await waitUntil(
      () => receiver.received.filter(({ deliveryId }) => deliveryId === id).length === 2,
    );
    const soon = await whole.askAs(tenant, { method: 'POST', target: '/v1/webhooks/test' });
    expect([soon.status, soon.body['code']]).toEqual([429, 'rate_limited']);
    expect(soon.headers['retry-after']).toBe(String(soon.body['retryAfterSeconds']));
  });

  test('a delivery is not sent again while an attempt is under way', async () => {
    const slow = await createWebhookReceiver();
    const { promise: answered, resolve: answer } = Promise.withResolvers<{ status: number }>();
    slow.answerWith(() => answered);
    const tenant = await whole.tenant({ webhookUrl: slow.url });
    const queued = await whole.askAs(tenant, { method: 'POST', target: '/v1/webhooks/test' });
    const id = String(queued.body['deliveryId']);
    await slow.waitFor(({ deliveryId }) => deliveryId === id);
    const again = () =>
      whole.askAs(tenant, { method: 'POST', target: `/v1/webhooks/deliveries/${id}/redeliver` });
    const refused = await again();
    expect([refused.status, refused.body['code']]).toEqual([409, 'delivery_in_progress']);
    answer({ status: 500 });
    await waitUntil(async () => (await again()).status === 202);
    await waitUntil(() => slow.received.length === 2);
    await slow.close();
  });

  test('without a URL there is nothing to test or to send again', async () => {
    const tenant = await whole.tenant({ webhookUrl: receiver.url });
    const queued = await whole.askAs(tenant, { method: 'POST', target: '/v1/webhooks/test' });
    await patch(tenant, { webhookUrl: null });
    const target = `/v1/webhooks/deliveries/${String(queued.body['deliveryId'])}/redeliver`;
    for (const path of ['/v1/webhooks/test', target]) {
      const answer = await whole.askAs(tenant, { method: 'POST', target: path });
      expect([answer.status, answer.body['code']]).toEqual([409, 'webhook_url_missing']);
    }
  });
});

describe('purchases', () => {
  const target = '/v1/credits/purchase';
  const buy = (body: object) =>
    whole.ask(signedByOperator(operator, { method: 'POST', target, body }));

  test('a reference grants credits once; other contents conflict', async () => {
    const tenant = await whole.tenant({ grantCredits: 0 });
    const body = {
      tenantId: tenant.tenantId,
      credits: 12.5,
      reference: `invoice ${tenant.tenantId}`,
    };
    const first = await buy(body);
    expect([first.status, first.body]).toEqual([
      201,
      {
        purchaseId: expect.stringMatching(/^pur_/),
        tenantId: tenant.tenantId,
        credits: 12.5,
        balance: { after: 12.5 },
      },
    ]);
    const again = await buy(body);
    expect([again.status, again.body['idempotent'], again.body['purchaseId']]).toEqual([
      200,
      true,
      first.body['purchaseId'],
    ]);
    const other = await buy({ ...body, credits: 13 });
    expect([other.status, other.body['code']]).toEqual([409, 'reference_conflict']);
    const balance = await get(tenant, '/v1/credits/balance');
    expect(balance.body).toMatchObject({ balance: 12.5, available: 12.5 });
    const [line] = itemsOf(await get(tenant, '/v1/credits/transactions'));
    expect(line).toMatchObject({ type: 'grant', amount: 12.5, reference: body.reference });
  });

  test('20 parallel purchases of one reference grant once', async () => {
    const tenant = await whole.tenant({ grantCredits: 0 });
    const body = { tenantId: tenant.tenantId, credits: 1, reference: `same ${tenant.tenantId}` };
    const answers = await Promise.all(Array.from({ length: 20 }, () => buy(body)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(19);
  });

  test('an unknown tenant gets 404, invalid contents get 422', async () => {
    const unknown = await buy({
      tenantId: 'tnt_00000000000000000000000000',
      credits: 1,
      reference: 'a',
    });
    expect(unknown.status).toBe(404);
    const tenantId = (await shared()).tenantId;
    for (const credits of [0, -1, 0.0000001, 1e18, '1']) {
      expect((await buy({ tenantId, credits, reference: 'b' })).status).toBe(422);
    }
    expect((await buy({ tenantId, credits: 1, reference: 'c', extra: 1 })).status).toBe(422);
  });

  test("a tenant's key is refused as an operator's, and an operator's as a tenant's", async () => {
    const tenant = await shared();
    const asTenant = await whole.askAs(tenant, { method: 'POST', target, body: {} });
    expect([asTenant.status, asTenant.body['code']]).toEqual([403, 'operator_only']);
    const wire = { method: 'GET', target: '/v1/credits/balance' };
    expect((await whole.ask(signedByOperator(operator, wire))).status).toBe(401);
  });

  test.each([
    ['POST', '/v1/credits/purchase-intents'],
    ['GET', '/v1/credits/purchase-intents/abc'],
    ['GET', '/v1/credits/purchase-intents/abc/await?timeoutSeconds=1'],
  ])('the Solana rail is off: %s %s', async (method, path) => {
    const body = method === 'POST' ? { body: { credits: 5, token: 'USDC' } } : {};
    const answer = await whole.askAs(await shared(), { method, target: path, ...body });
    expect([answer.status, answer.body['code']]).toEqual([409, 'solana_disabled']);
    expect((await whole.ask({ method, target: path })).status).toBe(401);
  });
});

describe('keys and the audit list', () => {
  test('a key signs within its scopes until it is deleted, and the last one for settings stays', async () => {
    const tenant = await whole.tenant();
    const { body } = await createKey(tenant, { scopes: ['read'], expiresInDays: 1 });
    const keyId = String(body['keyId']);
    const named = { ...tenant, hmacSecret: String(body['hmacSecret']) };
    const headers = { 'x-svc-key': keyId };
    const settings = (method: string) =>
      whole.askAs(named, { method, target: '/v1/settings', headers, body: {} });
    expect((await settings('GET')).status).toBe(200);
    expect((await get(named, '/v1/settings')).status).toBe(401);
    const changed = await settings('PATCH');
    expect([changed.status, changed.body['code']]).toEqual([403, 'scope_missing']);
    const [key, first] = itemsOf(await get(tenant, '/v1/keys'));
    expect(key).toMatchObject({ keyId, scopes: ['read'], addresses: [] });
    const remove = (id: unknown) =>
      whole.askAs(tenant, { method: 'DELETE', target: `/v1/keys/${String(id)}` });
    const last = await remove(first?.['keyId']);
    expect([last.status, last.body['code']]).toEqual([409, 'last_key']);
    const removed = await remove(keyId);
    expect([removed.status, removed.text]).toEqual([204, '']);
    const by = { keyId: first?.['keyId'] };
    expect(await allOf(tenant, '/v1/audit?limit=1')).toMatchObject([
      { what: 'key.deleted', by },
      { what: 'key.created', by },
    ]);
  });

  test('a tenant has at most ten', async () => {
    const tenant = await whole.tenant();
    for (let count = 1; count < 10; count += 1) {
      expect((await createKey(tenant, {})).status).toBe(201);
    }
    const refused = await createKey(tenant, {});
    expect([refused.status, refused.body['code']]).toEqual([409, 'key_limit']);
    expect((await createKey(tenant, { addresses: ['203.0.113.7'] })).status).toBe(422);
  });
});

describe('webhook endpoints', () => {
  test('a tenant has at most five', async () => {
    const tenant = await whole.tenant();
    const post = (body: object) =>
      whole.askAs(tenant, { method: 'POST', target: '/v1/webhook-endpoints', body });
    for (let count = 1; count <= 5; count += 1)
      expect((await post({ url: null })).status).toBe(201);
    const refused = await post({ url: null });
    expect([refused.status, refused.body['code']]).toEqual([409, 'endpoint_limit']);
  });
});

describe('the rate limit', () => {
  test('is shared by all gateways, and the answer says when to retry', async () => {
    const tenant = await whole.tenant({ name: 'Slow' });
    await whole.stack.query(
      "UPDATE tenants SET rate_limit_per_second = 1, rate_limit_burst = 10 WHERE name = 'Slow'",
    );
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => get(tenant, '/v1/credits/balance')),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(17);
    expect(refused.length).toBeLessThanOrEqual(20);
    for (const answer of answers) {
      expect(answer.headers['ratelimit-policy']).toBe('"tenant";q=10;w=10');
      expect(answer.headers['ratelimit']).toMatch(/^"tenant";r=\d+;t=\d+$/);
    }
    expect(refused[0]?.body['code']).toBe('rate_limited');
    expect(refused[0]?.headers['retry-after']).toBe('1');
  });
});
