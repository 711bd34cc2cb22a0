import { rotateTenantSecret } from '@svc/store';
import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { problemOf } from '../answers.fixture.ts';
import { type TestTenant, useGateways } from '../gateway.fixture.ts';

const gateways = await useGateways();

/** The status from each gateway. */
const statuses = async (tenant: TestTenant, secret = tenant.secret) => {
  const answers = await Promise.all(
    gateways.baseUrls.map((baseUrl) => tenant.send({ baseUrl, target: '/v1/settings', secret })),
  );
  return answers.map(({ status }) => status);
};

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
