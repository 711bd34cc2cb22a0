import { toWireId } from '@svc/domain';
import { stopDatabaseClock, testAuthor, waitUntil } from '@svc/testkit';
import { beforeAll, afterAll, expect, test } from 'vitest';
import type { Author } from '../audit-log/audit.ts';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import { claimFor, createFixture, type Fixture, openFixture } from '../store.fixture.ts';
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
  // Postgres reports an error before it releases the locks of the statement, and locked rows are
  // skipped.
  const sealed = await waitUntil(async () => (await sealAllKeyLimits(store)) || undefined);
  expect([sealed, await sealAllKeyLimits(store)]).toEqual([1, 0]);
  await expect(database.query(seal, [recent])).rejects.toThrow(refused);
});

/** A store whose clock stands still, and the id of the first key of a tenant. */
async function createStill() {
  const own = await createFixture();
  const { store, database } = own;
  const openedAt = new Date();
  const clockAt = (ms: number) =>
    stopDatabaseClock(database.databaseUrl, new Date(openedAt.getTime() + ms));
  await clockAt(0);
  const tenantId = await own.tenant();
  const [first] = await listKeys(store, tenantId);
  const create = async (key: Partial<NewKey> = {}, by: Author = testAuthor) => {
    const asked = {
      secret: 'hsk_test_2',
      scopes: ['read'],
      addresses: [],
      expiresInDays: null,
    } as const;
    const made = await createKey(store, { tenantId, ...asked, ...key }, by);
    if (made.kind !== 'created') throw new Error(made.kind);
    return made;
  };
  return { ...own, openedAt, clockAt, tenantId, create, firstId: first?.id ?? '' };
}

const dayMs = 86_400_000;

test('the valid keys of a tenant are listed newest first, with all that limits them', async () => {
  const { store, openedAt, clockAt, tenantId, create, firstId, tenant } = await createStill();
  await tenant();
  const limits = { scopes: ['spend', 'read'], addresses: ['192.0.2.0/24'] } as const;
  const { key: limited } = await create({ ...limits, expiresInDays: 2 });
  expect(limited).toEqual({
    ...limits,
    id: limited.id,
    createdAt: openedAt,
    expiresAt: new Date(openedAt.getTime() + 2 * dayMs),
    lastUsedAt: null,
  });
  const { key: same } = await create();
  await clockAt(1);
  const { key: newest } = await create();
  const listed = await listKeys(store, tenantId);
  const older = [limited.id, same.id, firstId].toSorted().toReversed();
  expect(listed.map(({ id }) => id)).toEqual([newest.id, ...older]);
  expect(listed).toContainEqual(limited);
  await clockAt(2 * dayMs - 1);
  expect(await listKeys(store, tenantId)).toHaveLength(4);
  await clockAt(2 * dayMs);
  expect((await listKeys(store, tenantId)).map(({ id }) => id)).not.toContain(limited.id);
  expect(await deleteKey(store, { tenantId, keyId: limited.id }, testAuthor)).toEqual({
    kind: 'not_found',
  });
});

test('a creation removes the expired named keys of its tenant only', async () => {
  const { store, clockAt, tenantId, create, database, tenant } = await createStill();
  const otherId = await tenant();
  const asked = {
    secret: 'hsk_test_2',
    scopes: ['read'],
    addresses: [],
    expiresInDays: 1,
  } as const;
  await createKey(store, { ...asked, tenantId: otherId }, testAuthor);
  await create({ expiresInDays: 1 });
  await create({ expiresInDays: 2 });
  const rotation = {
    tenantId,
    kind: 'hmac',
    secret: 'hsk_test_9',
    overlapMs: 1,
    force: false,
  } as const;
  await rotateTenantSecret(store, rotation, testAuthor);
  await clockAt(dayMs);
  await create();
  const rows = await database.query(
    `SELECT kind, count(*)::int AS count, tenant_id = $1 AS own FROM tenant_secrets
     WHERE kind <> 'webhook' GROUP BY 1, 3 ORDER BY 3, 1`,
    [tenantId],
  );
  expect(rows).toEqual([
    { kind: 'hmac', count: 1, own: false },
    { kind: 'key', count: 1, own: false },
    { kind: 'hmac', count: 2, own: true },
    { kind: 'key', count: 2, own: true },
  ]);
});

test('a creation and a deletion of a key are in the audit log, and the tenant is notified', async () => {
  const { store, tenant, database, openedAt } = await createStill();
  const tenantId = await tenant(0, 'https://hooks.example.com/');
  const asked = {
    secret: 'hsk_test_2',
    scopes: ['read'],
    addresses: [],
    expiresInDays: 1,
  } as const;
  const made = await createKey(store, { ...asked, tenantId }, testAuthor);
  if (made.kind !== 'created') throw new Error(made.kind);
  const keyId = made.key.id;
  const deleted = await deleteKey(store, { tenantId, keyId }, testAuthor);
  expect([made, deleted]).toMatchObject([
    { deliveryIds: [expect.any(String)] },
    { kind: 'deleted', deliveryIds: [expect.any(String)] },
  ]);
  const expiresAt = new Date(openedAt.getTime() + dayMs).toISOString();
  const key = { keyId: toWireId('key', keyId), scopes: ['read'], addresses: [], expiresAt };
  const entries = await database.query(
    `SELECT action, subject_id AS subject, before, after FROM audit_log WHERE action LIKE 'key.%' ORDER BY id`,
  );
  const subject = toWireId('tnt', tenantId);
  expect(entries).toEqual([
    { action: 'key.create', subject, before: null, after: key },
    { action: 'key.delete', subject, before: key, after: null },
  ]);
  const attempts = await claimFor(store, tenantId);
  const changes = attempts.map(({ body }) => JSON.parse(body ?? '{}').data.what);
  expect(new Set(changes)).toEqual(new Set(['key.created', 'key.deleted']));
});

test('a key of another tenant is not deleted, and other keys stay', async () => {
  const { store, tenantId, create, firstId, tenant } = await createStill();
  const otherId = await tenant();
  const [{ key: one }, { key: two }] = [await create(), await create()];
  const remove = (keyId: string, of = tenantId) =>
    deleteKey(store, { tenantId: of, keyId }, testAuthor);
  expect(await remove(one.id, otherId)).toEqual({ kind: 'not_found' });
  expect(await remove(one.id)).toMatchObject({ kind: 'deleted' });
  const ids = (await listKeys(store, tenantId)).map(({ id }) => id);
  expect(ids.toSorted()).toEqual([two.id, firstId].toSorted());
});

test('a key whose row was edited does not count as another key, and a limited one may change settings', async () => {
  const { store, tenantId, create, firstId, database } = await createStill();
  const remove = async (keyId: string) =>
    (await deleteKey(store, { tenantId, keyId }, testAuthor)).kind;
  const { key: whole } = await create({ scopes: ['read', 'spend', 'settings'] });
  await database.query(`UPDATE tenant_secrets SET limits_sealed = 'x' WHERE id = $1`, [whole.id]);
  expect(await remove(firstId)).toBe('last_key');
  expect(await remove(whole.id)).toBe('deleted');
  const { key: settings } = await create({ scopes: ['settings'] });
  expect(await remove(settings.id)).toBe('deleted');
});

test('an author without a key may create any key, and a change of keys waits for another', async () => {
  const own = await createStill();
  const { tenantId, create } = own;
  const unnamed: Author = { actor: { kind: 'tenant', id: tenantId }, requestId: null };
  await create({ scopes: ['settings', 'read', 'spend'] }, unnamed);
  const other = await beginOther(own);
  await other.query('SELECT FROM credit_accounts WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
  const made = create();
  await untilLockWait(own);
  await other.commit();
  const { key } = await made;
  const again = await beginOther(own);
  await again.query('SELECT FROM credit_accounts WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
  const deleted = deleteKey(own.store, { tenantId, keyId: key.id }, testAuthor);
  await untilLockWait(own);
  await again.commit();
  expect(await deleted).toMatchObject({ kind: 'deleted' });
});

test.each(['audit_log', 'tenant_secrets', 'events'])(
  'a change of keys that %s refuses changes nothing',
  async (table) => {
    const { store, tenantId, create, database } = await createStill();
    const { key } = await create();
    await database.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
       CREATE TRIGGER refuse BEFORE INSERT OR DELETE ON ${table} EXECUTE FUNCTION refuse()`,
    );
    await expect(create()).rejects.toThrow('not now');
    const deleted = deleteKey(store, { tenantId, keyId: key.id }, testAuthor);
    await expect(deleted).rejects.toThrow('not now');
    expect(await listKeys(store, tenantId)).toHaveLength(2);
  },
);

test('the last use of a key is the latest one, and a locked key is left for later', async () => {
  const own = await createStill();
  const { store, database, create, firstId, clockAt, openedAt } = own;
  const [{ key: second }, { key: third }] = [await create(), await create()];
  const startMs = 3_600_000 - (openedAt.getTime() % 60_000);
  /** The uses of the three keys, in milliseconds after `startMs`. */
  const used = async () => {
    const rows = await database.query<{ id: string; at: Date | null }>(
      'SELECT id, last_used_at AS at FROM tenant_secrets',
    );
    const at = new Map(rows.map((row) => [row.id, row.at]));
    return [firstId, second.id, third.id].map((id) => {
      const ms = at.get(id)?.getTime();
      return ms === undefined ? null : ms - openedAt.getTime() - startMs;
    });
  };
  const use = (...uses: [string, number][]) =>
    recordKeyUses(
      store,
      uses.map(([keyId, agoMs]) => ({ keyId, agoMs })),
    );
  await clockAt(startMs + 119_999);
  expect(await use([firstId, 0], [second.id, 60_000])).toEqual([]);
  expect(await used()).toEqual([60_000, 0, null]);
  expect(await use([firstId, 60_000], [second.id, 60_000])).toEqual([]);
  expect(await used()).toEqual([60_000, 0, null]);
  const other = await beginOther(own);
  await other.query('SELECT FROM tenant_secrets WHERE id = ANY($1::uuid[]) FOR UPDATE', [
    [firstId, third.id],
  ]);
  await clockAt(startMs + 120_000);
  const skipped = await use([firstId, 0], [second.id, 0], [third.id, 0]);
  expect(skipped.toSorted()).toEqual([firstId, third.id].toSorted());
  await other.commit();
  expect(await used()).toEqual([60_000, 120_000, null]);
  expect(await use([third.id, 0])).toEqual([]);
  expect(await used()).toEqual([60_000, 120_000, 120_000]);
});

test('without a sound key without limits, the last key for settings stays, and others may go', async () => {
  const { store, tenantId, create, firstId, database } = await createStill();
  const remove = async (keyId: string) =>
    (await deleteKey(store, { tenantId, keyId }, testAuthor)).kind;
  const { key: settings } = await create({ scopes: ['settings'] });
  const { key: reading } = await create({ scopes: ['read'] });
  await database.query(`UPDATE tenant_secrets SET limits_sealed = 'x' WHERE id = $1`, [firstId]);
  expect(await remove(settings.id)).toBe('last_key');
  expect(await remove(reading.id)).toBe('deleted');
});

test('of two creations at once, the one above the limit is refused', async () => {
  const own = await createStill();
  const { store, tenantId, create } = own;
  for (let count = 1; count < 9; count += 1) await create();
  const other = await beginOther(own);
  await other.query('SELECT FROM credit_accounts WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
  const asked = {
    secret: 'hsk_test_2',
    scopes: ['read'],
    addresses: [],
    expiresInDays: null,
  } as const;
  const made = [1, 2].map(() => createKey(store, { tenantId, ...asked }, testAuthor));
  await untilLockWait(own, 2);
  await other.commit();
  const kinds = (await Promise.all(made)).map(({ kind }) => kind);
  expect(new Set(kinds)).toEqual(new Set(['created', 'key_limit']));
});
