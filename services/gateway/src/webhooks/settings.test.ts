import { Delivery, DeliveryPage, DeliveryQueued, Settings } from '@svc/contracts';
import { toWireId } from '@svc/domain';
import { claimDue } from '@svc/store';
import { advanceDatabaseClock, sendSigned } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { bodyOf, problemOf, refusalOf } from '../answers.fixture.ts';
import { type TestTenant, useGateways } from '../gateway.fixture.ts';

const gateways = await useGateways();

const webhookUrl = 'https://hooks.example.com/events';
const patch = (tenant: TestTenant, body: object | string) =>
  tenant.send({ method: 'PATCH', target: '/v1/settings', body });
const testWebhook = (tenant: TestTenant) =>
  tenant.send({ method: 'POST', target: '/v1/webhooks/test' });

async function testDelivery(tenant: TestTenant): Promise<string> {
  const response = await testWebhook(tenant);
  expect(response.status).toBe(202);
  return bodyOf(response, DeliveryQueued).deliveryId;
}

async function deliveriesOf(tenant: TestTenant, query = ''): Promise<DeliveryPage['data']> {
  const response = await tenant.send({ target: `/v1/webhooks/deliveries${query}` });
  return bodyOf(response, DeliveryPage).data;
}

describe('settings', () => {
  test('are shown in full, and can be changed one by one', async () => {
    const tenant = await gateways.tenant();
    const before = await tenant.send({ target: '/v1/settings' });
    expect(bodyOf(before, Settings)).toEqual({
      webhookUrl: null,
      lowBalanceThreshold: 1000,
      webhookDisabled: null,
      allowedJobTypes: ['ats.application'],
      tenantId: toWireId('tnt', tenant.uuid),
      environment: 'sandbox',
    });
    const changed = await patch(tenant, { webhookUrl });
    expect(changed.status).toBe(200);
    expect(bodyOf(changed, Settings)).toMatchObject({ webhookUrl, lowBalanceThreshold: 1000 });
    const exact = await patch(tenant, '{"lowBalanceThreshold":0.000001}');
    expect(bodyOf(exact, Settings)).toMatchObject({ webhookUrl, lowBalanceThreshold: 0.000001 });
    const cleared = await patch(tenant, { webhookUrl: null });
    expect(bodyOf(cleared, Settings).webhookUrl).toBeNull();
    expect((await patch(tenant, {})).json()).toEqual(cleared.json());
  });

  test.each<[object | string, string]>([
    [{ webhookUrl: 'http://hooks.example.com/' }, '/webhookUrl'],
    [{ webhookUrl: 'https://127.0.0.1/' }, '/webhookUrl'],
    [{ webhookUrl: 'https://2130706433/' }, '/webhookUrl'],
    [{ webhookUrl: 'https://0x7f000001/' }, '/webhookUrl'],
    [{ webhookUrl: 'https://0177.0.0.1/' }, '/webhookUrl'],
    [{ webhookUrl: 'https://10.1.2.3/' }, '/webhookUrl'],
    [{ webhookUrl: 'https://169.254.169.254/latest' }, '/webhookUrl'],
    [{ webhookUrl: 'https://[::1]/' }, '/webhookUrl'],
    [{ webhookUrl: 'https://[::ffff:127.0.0.1]/' }, '/webhookUrl'],
    [{ webhookUrl: 'https://[64:ff9b::7f00:1]/' }, '/webhookUrl'],
    [{ webhookUrl: 'https://localhost/' }, '/webhookUrl'],
    [{ webhookUrl: 'https://user:pass@hooks.example.com/' }, '/webhookUrl'],
    [{ webhookUrl: 'http://unix:/var/run/docker.sock:/x' }, '/webhookUrl'],
    [{ webhookUrl: 'unix:/var/run/docker.sock:/x' }, '/webhookUrl'],
    [{ webhookUrl: 'https://user:pass@hooks.example.com/' }, '/webhookUrl'],
    [{ webhookUrl: '' }, '/webhookUrl'],
    [{ webhookUrl: 7 }, '/webhookUrl'],
    [{ lowBalanceThreshold: -1 }, '/lowBalanceThreshold'],
    [{ lowBalanceThreshold: null }, '/lowBalanceThreshold'],
    ['{"lowBalanceThreshold":0.0000001}', '/lowBalanceThreshold'],
    ['{"lowBalanceThreshold":1e9}', '/lowBalanceThreshold'],
    ['{"lowBalanceThreshold":1,"lowBalanceThreshold":2}', '/lowBalanceThreshold'],
    [{ allowedJobTypes: ['other'] }, '/allowedJobTypes'],
  ])('%j is refused', async (body, path) => {
    const tenant = await gateways.tenant();
    expect(refusalOf(await patch(tenant, body))).toBe(`422 validation_error ${path}`);
  });

  test('a threshold raised above the balance causes one notification', async () => {
    const tenant = await gateways.tenant({ credits: 2_000, webhookUrl });
    await patch(tenant, { lowBalanceThreshold: 2_001 });
    await patch(tenant, { lowBalanceThreshold: 2_002 });
    const types = (await deliveriesOf(tenant)).map(({ type }) => type);
    expect(types.filter((type) => type !== 'settings.changed')).toEqual(['credits.low_balance']);
  });
});

describe('a test event', () => {
  test('is queued as a delivery, at most once a minute', async () => {
    const tenant = await gateways.tenant({ webhookUrl });
    const deliveryId = await testDelivery(tenant);
    const response = await tenant.send({ target: `/v1/webhooks/deliveries/${deliveryId}` });
    const delivery = bodyOf(response, Delivery);
    expect(delivery).toMatchObject({ type: 'webhook.test', status: 'pending', attempts: [] });
    expect(await deliveriesOf(tenant)).toEqual([delivery]);
    const again = await testWebhook(tenant);
    expect(refusalOf(again)).toBe('429 rate_limited');
    const { retryAfterSeconds } = problemOf(again);
    expect(again.headers['retry-after']).toBe(String(retryAfterSeconds));
    expect(retryAfterSeconds).toBeGreaterThan(50);
    expect(retryAfterSeconds).toBeLessThanOrEqual(60);
  });

  test('needs a URL', async () => {
    expect(refusalOf(await testWebhook(await gateways.tenant()))).toBe('409 webhook_url_missing');
  });
});

const redeliver = (tenant: TestTenant, id: string) =>
  tenant.send({ method: 'POST', target: `/v1/webhooks/deliveries/${id}/redeliver` });

describe('deliveries', () => {
  test('are listed by status, and dropped when the URL is cleared', async () => {
    const tenant = await gateways.tenant({ webhookUrl });
    const id = await testDelivery(tenant);
    expect(await deliveriesOf(tenant, '?status=dropped')).toEqual([]);
    await patch(tenant, { webhookUrl: null });
    const [dropped] = await deliveriesOf(tenant, '?status=dropped');
    expect(dropped).toMatchObject({ id, nextAttemptAt: null });
    expect(refusalOf(await redeliver(tenant, id))).toBe('409 webhook_url_missing');
    await patch(tenant, { webhookUrl });
    const again = await redeliver(tenant, id);
    expect([again.status, again.json()]).toEqual([202, { deliveryId: id }]);
    expect((await deliveriesOf(tenant, '?status=pending')).map((one) => one.id)).toContain(id);
    expect(await deliveriesOf(tenant, '?status=dropped')).toEqual([]);
  });

  test('cannot be sent again while an attempt is in progress', async () => {
    const tenant = await gateways.tenant({ webhookUrl });
    await testDelivery(tenant);
    const { store, database } = gateways;
    const rows = await database.query<{ id: string }>(
      'SELECT id FROM deliveries WHERE tenant_id = $1',
      [tenant.uuid],
    );
    const ids = rows.map(({ id }) => id);
    const [claim] = await claimDue(store, [{ tenantId: tenant.uuid, attemptsMax: 8 }]);
    expect(claim?.attempts).toHaveLength(1);
    const id = toWireId('dlv', ids[0] ?? '');
    expect(refusalOf(await redeliver(tenant, id))).toBe('409 delivery_in_progress');
    const [claimed] = await deliveriesOf(tenant);
    expect(claimed?.attempts).toMatchObject([{ number: 1, statusCode: null, durationMs: null }]);
    await advanceDatabaseClock(database.databaseUrl, 31_000);
    expect((await redeliver(tenant, id)).status).toBe(202);
  });

  test('and test events are sent again only within the attempts of the hour', async () => {
    const tenant = await gateways.tenant({ webhookUrl });
    const id = await testDelivery(tenant);
    const { store, database } = gateways;
    await database.query(
      `INSERT INTO webhook_caps (tenant_id, attempts_per_hour, hour) VALUES ($1, 1, svc_now())`,
      [tenant.uuid],
    );
    await claimDue(store, [{ tenantId: tenant.uuid, attemptsMax: 8 }]);
    await database.query(`UPDATE delivery_attempts SET recorded_at = svc_now()`);
    const refused = [
      await redeliver(tenant, id),
      await tenant.send({ method: 'POST', target: '/v1/webhooks/test' }),
    ];
    for (const answer of refused) {
      expect(refusalOf(answer)).toBe('429 rate_limited');
      const seconds = Number(answer.headers['retry-after']);
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(3_600);
    }
    await advanceDatabaseClock(database.databaseUrl, 3_600_000);
    expect((await redeliver(tenant, id)).status).toBe(202);
  });

  test('get the same 404 for a foreign, unknown or malformed id, byte for byte', async () => {
    const [owner, stranger] = [
      await gateways.tenant({ webhookUrl }),
      await gateways.tenant({ webhookUrl }),
    ];
    const foreign = await testDelivery(owner);
    const answers = new Set<string>();
    for (const id of [foreign, toWireId('dlv', owner.uuid), 'nonsense', foreign.toUpperCase()]) {
      for (const [method, suffix] of [
        ['GET', ''],
        ['POST', '/redeliver'],
      ] as const) {
        const headers = { 'x-request-id': 'same' };
        const target = `/v1/webhooks/deliveries/${id}${suffix}`;
        const answer = await stranger.send({ method, target, headers });
        answers.add(`${answer.status} ${answer.text}`);
      }
    }
    expect([...answers]).toEqual([expect.stringMatching(/^404 .*not_found/)]);
    expect(await deliveriesOf(stranger)).toEqual([]);
  });
});

test('purchase intents are disabled for every request, and still need a signature', async () => {
  const tenant = await gateways.tenant();
  const intents = '/v1/credits/purchase-intents';
  for (const [method, target] of [
    ['POST', intents],
    ['GET', `${intents}/any`],
    ['GET', `${intents}/any/await?timeoutSeconds=5`],
  ] as const) {
    expect(refusalOf(await tenant.send({ method, target }))).toBe('409 solana_disabled');
    const unsigned = await sendSigned({ baseUrl: gateways.baseUrls[0] ?? '', method, target });
    expect(refusalOf(unsigned)).toBe('401 unauthenticated');
  }
});

test('changes of settings, keys and endpoints share a slower rate limit', async () => {
  const busy = await gateways.tenant();
  const changes = [
    { method: 'PATCH', target: '/v1/settings' },
    { method: 'DELETE', target: '/v1/keys/key_x' },
    { method: 'POST', target: '/v1/webhook-endpoints' },
  ];
  const startedMs = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 30 }, () =>
      changes.map((one) => busy.send({ ...one, body: '{}' })),
    ).flat(),
  );
  const refilled = Math.ceil((performance.now() - startedMs) / 1_000);
  const admitted = answers.filter(({ status }) => status !== 429).length;
  expect(admitted).toBeGreaterThanOrEqual(30);
  expect(admitted).toBeLessThanOrEqual(30 + refilled);
  expect((await busy.send({ target: '/v1/settings' })).status).toBe(200);
});
