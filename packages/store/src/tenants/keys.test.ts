import { testAuthor } from '@svc/testkit';
import { beforeAll, afterAll, expect, test } from 'vitest';
import type { Author } from '../audit-log/audit.ts';
import { type Fixture, openFixture } from '../store.fixture.ts';
import { findTenantCredentials } from './credentials.ts';
import { sealAllKeyLimits } from './key-limits.ts';
import { createKey, deleteKey, listKeys, type NewKey, recordKeyUses } from './keys.ts';
import { rotateTenantSecret } from './secrets.ts';

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

/** Signs a change of keys with a key of the tenant. */
const signedBy = (tenantId: string, keyId: string): Author => ({
  actor: { kind: 'tenant', id: tenantId, keyId },
  requestId: null,
});

test('a key creates and deletes only keys that can do no more than it can', async () => {
  const { tenant, store } = fixture;
  const tenantId = await tenant();
  const [first] = await listKeys(store, tenantId);
  const limits = {
    scopes: ['read', 'settings'],
    addresses: ['10.0.0.0/8', '2001:db8::/32'],
  } as const;
  const signer = await newKey(tenantId, { ...limits, expiresInDays: 2 });
  if (signer.kind !== 'created') throw new Error(signer.kind);
  const by = signedBy(tenantId, signer.key.id);
  const narrow = { scopes: ['read'], addresses: ['10.1.0.0/16'], expiresInDays: 1 } as const;
  const create = async (key: Partial<NewKey>) => {
    const asked = { ...narrow, ...key, tenantId, secret: 'hsk_test_3' };
    return (await createKey(store, asked, by)).kind;
  };
  for (const more of [
    { scopes: ['spend'] },
    { addresses: [] },
    { addresses: ['10.0.0.0/7'] },
    { addresses: ['10.1.0.0/16', '192.0.2.0/24'] },
    { addresses: ['0.0.0.0/0'] },
    { addresses: ['::/0'] },
    { expiresInDays: null },
    { expiresInDays: 3 },
  ] as const) {
    expect([more, await create(more)]).toEqual([more, 'exceeds_signer']);
  }
  expect(await create({ addresses: ['2001:db8:1::/48'] })).toBe('created');
  const others = [
    await newKey(tenantId, { ...narrow, scopes: ['spend'] }),
    await newKey(tenantId, { ...narrow, addresses: [] }),
    await newKey(tenantId, { ...narrow, expiresInDays: null }),
  ];
  const remove = async (keyId: string, author = by) =>
    (await deleteKey(store, { tenantId, keyId }, author)).kind;
  for (const other of others) {
    if (other.kind !== 'created') throw new Error(other.kind);
    expect(await remove(other.key.id)).toBe('exceeds_signer');
  }
  expect(await remove(first?.id ?? '')).toBe('exceeds_signer');
  const own = await newKey(tenantId, narrow);
  if (own.kind !== 'created') throw new Error(own.kind);
  expect(await remove(own.key.id)).toBe('deleted');
  expect(await remove(signer.key.id)).toBe('deleted');
  expect(await create({})).toBe('signer_gone');
});

test('the last key without limits stays, whatever other keys there are', async () => {
  const { tenant, store } = fixture;
  const tenantId = await tenant();
  const [first] = await listKeys(store, tenantId);
  const all = ['read', 'spend', 'settings'] as const;
  await newKey(tenantId, { scopes: ['settings'] });
  await newKey(tenantId, { scopes: all, expiresInDays: 1 });
  await newKey(tenantId, { scopes: all, addresses: ['0.0.0.0/0'] });
  const remove = async (keyId = '') =>
    (await deleteKey(store, { tenantId, keyId }, testAuthor)).kind;
  expect(await remove(first?.id)).toBe('last_key');
  const second = await newKey(tenantId, { scopes: all });
  if (second.kind !== 'created') throw new Error(second.kind);
  const both = await Promise.all([remove(first?.id), remove(second.key.id)]);
  expect(both.toSorted()).toEqual(['deleted', 'last_key']);
});

test('an old first key that a rotation ends creates no key that outlives it, and a rotation may exceed ten keys', async () => {
  const { tenant, store } = fixture;
  const tenantId = await tenant();
  const [first] = await listKeys(store, tenantId);
  for (let count = 1; count < 10; count += 1) await newKey(tenantId);
  const rotation = { tenantId, kind: 'hmac', secret: 'hsk_test_9', force: false } as const;
  const rotated = await rotateTenantSecret(store, { ...rotation, overlapMs: 60_000 }, testAuthor);
  expect(rotated.kind).toBe('rotated');
  expect(await listKeys(store, tenantId)).toHaveLength(11);
  const by = signedBy(tenantId, first?.id ?? '');
  const key = { tenantId, secret: 'hsk_test_3', scopes: ['read'], addresses: [] } as const;
  expect(await createKey(store, { ...key, expiresInDays: null }, by)).toEqual({
    kind: 'exceeds_signer',
  });
  expect((await findTenantCredentials(store, tenantId))?.hmacSecrets).toHaveLength(2);
});

test.each([
  `scopes = '{read,spend,settings}'`,
  `addresses = '{}'`,
  `expires_at = expires_at + interval '1 year'`,
  'expires_at = NULL',
  `limits_sealed = 'x'`,
  "limits_sealed = (SELECT limits_sealed FROM tenant_secrets WHERE kind = 'hmac' LIMIT 1)",
])('a key whose row was edited with %s is refused', async (edit) => {
  const { database, tenant, store } = fixture;
  const tenantId = await tenant();
  const made = await newKey(tenantId, { addresses: ['192.0.2.0/24'], expiresInDays: 1 });
  if (made.kind !== 'created') throw new Error(made.kind);
  const { id } = made.key;
  const found = () => findTenantCredentials(store, tenantId, id);
  expect(await found()).toMatchObject({ hmacSecrets: ['hsk_test_2'], tamperedKeyIds: [] });
  await database.query(`UPDATE tenant_secrets SET ${edit} WHERE id = $1`, [id]);
  expect(await found()).toMatchObject({ hmacSecrets: [], tamperedKeyIds: [id] });
});

test('the seal of a key cannot be taken away, not even with a copy of its row', async () => {
  const { database, tenant, store } = fixture;
  const tenantId = await tenant();
  const made = await newKey(tenantId, { addresses: ['192.0.2.0/24'] });
  if (made.kind !== 'created') throw new Error(made.kind);
  const { id } = made.key;
  const refused = 'tenant_secrets_sealed_limits';
  const seal = `UPDATE tenant_secrets SET limits_sealed = NULL WHERE id = $1`;
  await expect(database.query(seal, [id])).rejects.toThrow(refused);
  const old = store.newId().replace(/^.{8}/, '019a0000');
  const copy = `INSERT INTO tenant_secrets (id, tenant_id, kind, sealed, created_at, scopes, addresses)
     SELECT $2::uuid, tenant_id, kind, sealed, svc_now(), scopes, '{}' FROM tenant_secrets WHERE id = $1`;
  await expect(database.query(copy, [id, old])).rejects.toThrow(refused);
  // A service of the previous version creates a key without the seal, which is added later.
  const [now] = await database.query<{ ms: number }>(
    'SELECT floor(extract(epoch FROM svc_now()) * 1000)::float8 AS ms',
  );
  const time = (now?.ms ?? 0).toString(16).padStart(12, '0');
  const recent = store.newId().replace(/^.{13}/, `${time.slice(0, 8)}-${time.slice(8)}`);
  await database.query(copy, [id, recent]);
  const widen = `UPDATE tenant_secrets SET scopes = '{spend}' WHERE id = $1`;
  await expect(database.query(widen, [recent])).rejects.toThrow(refused);
  const renamed = 'UPDATE tenant_secrets SET id = $2::uuid WHERE id = $1';
  await expect(database.query(renamed, [recent, old])).rejects.toThrow(refused);
  expect(await sealAllKeyLimits(store)).toBe(1);
  expect(await sealAllKeyLimits(store)).toBe(0);
  await expect(database.query(seal, [recent])).rejects.toThrow(refused);
});
