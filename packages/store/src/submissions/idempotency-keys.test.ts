import { testAuthor } from '@svc/testkit';
import { beforeEach, expect, test } from 'vitest';
import { grantCredits } from '../ledger/grants.ts';
import {
  createOperator,
  disableOperator,
  findOperatorCredentials,
  listOperators,
} from '../operators/operators.ts';
import { createFixture, type Fixture } from '../store.fixture.ts';
import { findTenantCredentials } from '../tenants/credentials.ts';
import { rotateTenantSecret } from '../tenants/secrets.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});

const secretsOf = async (tenantId: string) =>
  (await findTenantCredentials(fixture.store, tenantId))?.hmacSecrets;

const rotate = (tenantId: string, secret: string, more: { force?: boolean } = {}) =>
  rotateTenantSecret(
    fixture.store,
    {
      tenantId,
      kind: 'hmac',
      secret,
      overlapMs: 60_000,
      force: false,
      ...more,
    },
    testAuthor,
  );

test('a rotated secret is valid at once, and the previous one until the overlap ends', async () => {
  const tenantId = await fixture.tenant(0);
  expect(await rotate(tenantId, 'hsk_test_2')).toMatchObject({ kind: 'rotated' });
  expect(new Set(await secretsOf(tenantId))).toEqual(new Set(['hsk_test_2', 'hsk_test_1']));
  await fixture.advance(60_001);
  expect(await secretsOf(tenantId)).toEqual(['hsk_test_2']);
});

test('a third secret is refused while two are valid, unless it may drop the oldest', async () => {
  const tenantId = await fixture.tenant(0);
  await rotate(tenantId, 'hsk_test_2');
  await fixture.advance(1);
  expect(await rotate(tenantId, 'hsk_test_3')).toEqual({ kind: 'two_valid' });
  expect(await rotate(tenantId, 'hsk_test_3', { force: true })).toMatchObject({ kind: 'rotated' });
  expect(await secretsOf(tenantId)).toEqual(['hsk_test_3', 'hsk_test_2']);
});

test('the secret of an unknown tenant cannot be rotated', async () => {
  const nobody = '019ab000-0000-7000-8000-000000000001';
  expect(await rotate(nobody, 'hsk_test_2')).toEqual({ kind: 'unknown_tenant' });
});

const operator = { id: '019ab000-0000-7000-8000-00000000000a', name: 'Ana', secret: 'osk_1' };

test('an operator has its own key and a unique name, and can be disabled', async () => {
  const { store } = fixture;
  expect(await createOperator(store, operator, testAuthor)).toEqual({ kind: 'created' });
  const namesake = { ...operator, id: '019ab000-0000-7000-8000-00000000000b' };
  expect(await createOperator(store, namesake, testAuthor)).toEqual({ kind: 'name_taken' });
  const found = () => findOperatorCredentials(store, operator.id);
  expect(await found()).toEqual({ operatorId: operator.id, disabled: false, secret: 'osk_1' });
  expect(await disableOperator(store, operator.id, testAuthor)).toMatchObject({ name: 'Ana' });
  expect(await disableOperator(store, namesake.id, testAuthor)).toBeNull();
  expect(await found()).toMatchObject({ disabled: true });
  expect(await listOperators(store, { before: null, limit: 10 })).toMatchObject([{ name: 'Ana' }]);
});

test('a grant of an operator and its audit entry are written together, once', async () => {
  const { store, database } = fixture;
  await createOperator(store, operator, testAuthor);
  const tenantId = await fixture.tenant(0);
  const grant = {
    purchaseId: '019ab000-0000-7000-8000-00000000000c',
    tenantId,
    creditsMicros: 1_500_000n,
    reference: 'INV-1',
    usdMicros: null,
    note: 'not for the log',
  };
  const by = { actor: { kind: 'operator', id: operator.id }, requestId: 'req-1' } as const;
  expect(await grantCredits(store, grant, by)).toMatchObject({ kind: 'granted' });
  expect(await grantCredits(store, grant, by)).toMatchObject({ kind: 'repeated' });
  const rows = await database.query(`SELECT * FROM audit_log WHERE action = 'credits.grant'`);
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({
    actor_kind: 'operator',
    actor_id: operator.id,
    action: 'credits.grant',
    subject_kind: 'tenant',
    request_id: 'req-1',
    after: { credits: '1.5', reference: 'INV-1' },
  });
});
