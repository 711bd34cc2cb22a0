import { changeSettings, rotateTenantSecret, setTenantEnabled } from '@svc/store';
import { advanceDatabaseClock, type SignedRequest, testAuthor } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { problemOf, submission } from '../answers.fixture.ts';
import { type TestTenant, useGateways } from '../gateway.fixture.ts';

const gateways = await useGateways();

const statuses = async (tenant: TestTenant, secret = tenant.secret) => {
  const answers = await Promise.all(
    gateways.baseUrls.map((baseUrl) => tenant.send({ baseUrl, target: '/v1/settings', secret })),
  );
  return answers.map(({ status }) => status);
};

const [one = '', other = ''] = gateways.baseUrls;

const create = (tenant: TestTenant, key: string, options: Partial<SignedRequest> = {}) =>
  tenant.send({
    method: 'POST',
    target: '/v1/submissions',
    body: JSON.stringify(submission(key)),
    headers: { 'content-type': 'application/json', 'x-request-id': 'same' },
    ...options,
  });

/**
 * Creates a tenant whose credentials are in the caches of both gateways. These credentials are
 * older than `keysTtlMs`, so only a creation still uses them.
 */
async function knownTenant(options?: { credits: number }): Promise<TestTenant> {
  const tenant = await gateways.tenant(options);
  for (const baseUrl of gateways.baseUrls) await tenant.send({ baseUrl, target: '/v1/settings' });
  gateways.advanceCaches(5_000);
  return tenant;
}

const rotate = (tenant: TestTenant, secret: string, force = false) =>
  rotateTenantSecret(
    gateways.store,
    {
      tenantId: tenant.uuid,
      kind: 'hmac',
      secret,
      overlapMs: 3_600_000,
      force,
    },
    testAuthor,
  );

test('a new secret and the old one both work within five seconds, on every gateway', async () => {
  const tenant = await gateways.tenant();
  expect(await statuses(tenant)).toEqual([200, 200]);
  await rotate(tenant, 'hsk_test_second');
  gateways.advanceCaches(5_000);
  expect(await statuses(tenant, 'hsk_test_second')).toEqual([200, 200]);
  expect(await statuses(tenant)).toEqual([200, 200]);
});

test('a dropped secret is refused within five seconds, on every gateway', async () => {
  const tenant = await gateways.tenant();
  await rotate(tenant, 'hsk_test_second');
  expect(await statuses(tenant)).toEqual([200, 200]);
  await rotate(tenant, 'hsk_test_third', true);
  gateways.advanceCaches(5_000);
  expect(await statuses(tenant)).toEqual([401, 401]);
  expect(await statuses(tenant, 'hsk_test_second')).toEqual([200, 200]);
});

test('a disabled tenant gets the answer of an unknown one within five seconds, byte for byte', async () => {
  const tenant = await gateways.tenant();
  expect(await statuses(tenant)).toEqual([200, 200]);
  await gateways.database.query('UPDATE tenants SET disabled_at = svc_now() WHERE id = $1', [
    tenant.uuid,
  ]);
  gateways.advanceCaches(5_000);
  expect(await statuses(tenant)).toEqual([401, 401]);
  const headers = { 'x-request-id': 'same' };
  const target = '/v1/settings';
  const disabled = await tenant.send({ target, headers });
  const unknown = await tenant.send({ target, headers, tenantId: 'tnt_nobody' });
  const wrong = await (await gateways.tenant()).send({ target, headers, secret: 'hsk_test_x' });
  expect(problemOf(disabled).code).toBe('unauthenticated');
  expect(new Set([disabled.text, unknown.text, wrong.text]).size).toBe(1);
});

describe('a creation with credentials that the gateway has known for long', () => {
  test('sends Postgres the hold and nothing else', async () => {
    const tenant = await gateways.tenant();
    expect((await create(tenant, 'a')).status).toBe(201);
    gateways.advanceCaches(5_000);
    const before = gateways.gate.roundTrips();
    expect((await create(tenant, 'b')).status).toBe(201);
    expect(gateways.gate.roundTrips() - before).toBe(1);
  });

  test('is refused from the moment at which its secret is dropped', async () => {
    const tenant = await knownTenant();
    expect((await create(tenant, 'kept')).status).toBe(201);
    await rotate(tenant, 'hsk_test_second');
    await rotate(tenant, 'hsk_test_third', true);
    const body = JSON.stringify(submission('kept', { tier: 'priority' }));
    const attempts = [
      { key: 'new' },
      { key: 'kept' },
      { key: 'kept', options: { body } },
      { key: 'new', options: { body: '{' } },
    ];
    for (const baseUrl of gateways.baseUrls) {
      for (const { key, options } of attempts) {
        const refused = await create(tenant, key, { baseUrl, ...options });
        expect([refused.status, refused.headers['ratelimit-policy']]).toEqual([401, undefined]);
      }
    }
    expect((await create(tenant, 'new', { secret: 'hsk_test_third' })).status).toBe(201);
  });

  test('of a disabled tenant gets the answer of an unknown one at once, byte for byte', async () => {
    const tenant = await knownTenant({ credits: 1 });
    await setTenantEnabled(gateways.store, tenant.uuid, false, testAuthor);
    const unknown = await create(tenant, 'a', { tenantId: 'tnt_nobody' });
    for (const baseUrl of gateways.baseUrls) {
      expect((await create(tenant, 'a', { baseUrl })).text).toBe(unknown.text);
    }
    await setTenantEnabled(gateways.store, tenant.uuid, true, testAuthor);
    gateways.advanceCaches(5_000);
    expect(problemOf(await create(tenant, 'a')).code).toBe('insufficient_credits');
  });

  test('is held under a new secret, rate limit or list of job types at once', async () => {
    const tenant = await knownTenant();
    await rotate(tenant, 'hsk_test_second');
    const second = { secret: 'hsk_test_second' };
    expect((await create(tenant, 'a', { baseUrl: one, ...second })).status).toBe(201);
    const change = { rateLimitPerSecond: 7, rateLimitBurst: 70, allowedJobTypes: [] };
    await changeSettings(gateways.store, tenant.uuid, change, testAuthor);
    const refused = await create(tenant, 'b', { baseUrl: other });
    expect(problemOf(refused).code).toBe('job_type_not_allowed');
    expect(refused.headers['ratelimit-policy']).toBe('"tenant";q=70;w=10');
  });

  test('stops to be accepted when the overlap of its secret ends', async () => {
    const tenant = await knownTenant();
    await rotate(tenant, 'hsk_test_second');
    expect((await create(tenant, 'a')).status).toBe(201);
    await advanceDatabaseClock(gateways.database.databaseUrl, 3_600_001);
    gateways.advanceCaches(5_000);
    expect((await create(tenant, 'a')).status).toBe(401);
    expect((await create(tenant, 'a', { secret: 'hsk_test_second' })).status).toBe(200);
  });
});
