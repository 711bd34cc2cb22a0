import { testAuthor } from '@svc/testkit';
import { beforeAll, afterAll, expect, test } from 'vitest';
import { type Fixture, openFixture } from '../store.fixture.ts';
import { createKey, listKeys, type NewKey, recordKeyUses } from './keys.ts';

let fixture: Awaited<ReturnType<typeof openFixture>> & Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

const newKey = (tenantId: string, key: Partial<NewKey> = {}) =>
  createKey(
    fixture.store,
    {
      tenantId,
      secret: 'hsk_test_2',
      scopes: ['read'],
      addresses: [],
      expiresInDays: null,
      ...key,
    },
    testAuthor,
  );

test('no statement removes or ends the last key that may change settings', async () => {
  const { database, tenant } = fixture;
  const tenantId = await tenant();
  await newKey(tenantId);
  for (const sql of [
    `DELETE FROM tenant_secrets WHERE tenant_id = $1 AND kind = 'hmac'`,
    `UPDATE tenant_secrets SET expires_at = svc_now() WHERE tenant_id = $1 AND kind = 'hmac'`,
    'DELETE FROM tenant_secrets WHERE tenant_id = $1',
  ]) {
    await expect(database.query(sql, [tenantId])).rejects.toThrow('tenant_secrets_last_key');
  }
  await newKey(tenantId, { scopes: ['settings'] });
  await database.query(`DELETE FROM tenant_secrets WHERE tenant_id = $1 AND kind = 'hmac'`, [
    tenantId,
  ]);
  await expect(
    database.query(
      `UPDATE tenant_secrets SET scopes = '{read}' WHERE tenant_id = $1 AND kind = 'key'`,
      [tenantId],
    ),
  ).rejects.toThrow('tenant_secrets_last_key');
  expect(await listKeys(fixture.store, tenantId)).toHaveLength(2);
});

test('no statement adds an eleventh valid key, and expired keys are removed', async () => {
  const { database, tenant, store, advance } = fixture;
  const tenantId = await tenant();
  for (let count = 1; count < 10; count += 1) await newKey(tenantId, { expiresInDays: 1 });
  const copy = `INSERT INTO tenant_secrets (id, tenant_id, kind, sealed, created_at, scopes, addresses)
     SELECT gen_random_uuid(), tenant_id, kind, sealed, created_at, scopes, addresses
     FROM tenant_secrets WHERE tenant_id = $1 AND kind = 'key' LIMIT 1`;
  await expect(database.query(copy, [tenantId])).rejects.toThrow('tenant_secrets_key_limit');
  expect(await newKey(tenantId)).toEqual({ kind: 'key_limit' });
  await advance(86_400_001);
  expect(await listKeys(store, tenantId)).toHaveLength(1);
  expect((await newKey(tenantId)).kind).toBe('created');
  const rows = await database.query(
    `SELECT 1 FROM tenant_secrets WHERE tenant_id = $1 AND kind = 'key'`,
    [tenantId],
  );
  expect(rows).toHaveLength(1);
});

test('a use is stored once a minute, and changes no epoch', async () => {
  const { database, tenant, store } = fixture;
  const tenantId = await tenant();
  const [key] = await listKeys(store, tenantId);
  const version = async () => {
    const [row] = await database.query<{ version: string; at: Date | null; epoch: string }>(
      `SELECT s.ctid::text AS version, last_used_at AS at, epoch FROM tenant_secrets s
       JOIN credit_accounts USING (tenant_id) WHERE s.id = $1`,
      [key?.id],
    );
    return row;
  };
  const before = await version();
  const use = (agoMs: number) => recordKeyUses(store, [{ keyId: key?.id ?? '', agoMs }]);
  await use(0);
  const used = await version();
  expect(used?.at?.getTime()).toBeGreaterThan(Date.now() - 120_000);
  expect(used?.at?.toISOString()).toMatch(/:00\.000Z$/);
  expect(used?.epoch).toBe(before?.epoch);
  await use(120_000);
  expect(await version()).toEqual(used);
});
