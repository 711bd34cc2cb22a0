import { PurchaseAnswer } from '@svc/contracts';
import { toWireId } from '@svc/domain';
import { expect, test } from 'vitest';
import { bodyOf, refusalOf } from '../answers.fixture.ts';
import { type TestTenant, useGateways } from '../gateway.fixture.ts';

const gateways = await useGateways();
const operator = await gateways.operator();

const request = { method: 'POST', target: '/v1/credits/purchase' };
const buy = (body: object | string) => operator.send({ ...request, body });
const of = (tenant: TestTenant, more: object = {}) => ({
  tenantId: toWireId('tnt', tenant.uuid),
  credits: 500.25,
  reference: `INV ${tenant.uuid}`,
  ...more,
});

test('an operator’s purchase grants credits once for each reference, and is audited', async () => {
  const tenant = await gateways.tenant({ credits: 100 });
  const first = await buy(of(tenant, { usd: 5, note: 'wire' }));
  expect(first.status).toBe(201);
  const answer = bodyOf(first, PurchaseAnswer);
  expect(answer).toMatchObject({ credits: 500.25, balance: { after: 600.25 } });
  const repeated = await buy(of(tenant, { note: 'wire', usd: 5.0 }));
  expect([repeated.status, repeated.json()]).toEqual([200, { ...answer, idempotent: true }]);
  expect(refusalOf(await buy(of(tenant, { usd: 6, note: 'wire' })))).toBe('409 reference_conflict');
  const balance = await tenant.send({ target: '/v1/credits/balance' });
  expect(balance.json()).toMatchObject({ balance: 600.25 });
  const audited = await gateways.database.query(
    "SELECT actor_id, request_id FROM audit_log WHERE subject_id = $1 AND action = 'credits.grant'",
    [toWireId('tnt', tenant.uuid)],
  );
  expect(audited).toEqual([{ actor_id: operator.uuid, request_id: first.headers['x-request-id'] }]);
});

test('a tenant’s key gets operator_only before its body is checked', async () => {
  const tenant = await gateways.tenant();
  expect(refusalOf(await tenant.send({ ...request, body: of(tenant) }))).toBe('403 operator_only');
  expect(refusalOf(await tenant.send({ ...request, body: '{' }))).toBe('403 operator_only');
});

test('a disabled operator is refused as unknown within five seconds', async () => {
  const other = await gateways.operator();
  const tenant = await gateways.tenant();
  expect((await other.send({ ...request, body: of(tenant) })).status).toBe(201);
  await gateways.database.query('UPDATE operators SET disabled_at = svc_now() WHERE id = $1', [
    other.uuid,
  ]);
  gateways.advanceCaches(5_000);
  expect(refusalOf(await other.send({ ...request, body: of(tenant) }))).toBe('401 unauthenticated');
});

test.each(['tnt_nonsense', 'nobody', toWireId('tnt', '019ab000-0000-7000-8000-000000000001')])(
  'a purchase for %s is 404',
  async (tenantId) => {
    const body = { tenantId, credits: 1, reference: `for ${tenantId}` };
    expect(refusalOf(await buy(body))).toBe('404 not_found');
  },
);

test.each<[object, string]>([
  [{ credits: 0 }, '/credits'],
  [{ credits: -1 }, '/credits'],
  [{ credits: 0.0000001 }, '/credits'],
  [{ credits: 1e9 }, '/credits'],
  [{ credits: 999_999_999.999999 }, '/credits'],
  [{ credits: '5' }, '/credits'],
  [{ usd: -1 }, '/usd'],
  [{ usd: 0.1234567 }, '/usd'],
  [{ reference: '' }, '/reference'],
  [{ reference: 'x'.repeat(129) }, '/reference'],
  [{ note: 7 }, '/note'],
  [{ other: 7 }, '/other'],
])('%j is refused', async (wrong, path) => {
  const tenant = await gateways.tenant();
  expect(refusalOf(await buy(of(tenant, wrong)))).toBe(`422 validation_error ${path}`);
});
