import { keyScopes } from '@svc/domain';
import { testAuthor } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { beginOther } from '../lock-wait.fixture.ts';
import { keyLimitsPlace } from '../sealing/sealed.ts';
import { createFixture, type Fixture, openFixture } from '../store.fixture.ts';
import {
  hasSoundLimits,
  keyLimitsOf,
  type KeyLimitsRow,
  sealAllKeyLimits,
  sealKeyLimits,
} from './key-limits.ts';
import { rotateTenantSecret } from './secrets.ts';

let fixture: Awaited<ReturnType<typeof openFixture>>;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

const expiresAt = new Date(2_000_000_000_000);
const [id, otherId] = [
  '019a0000-0000-7000-8000-000000000001',
  '019a0000-0000-7000-8000-000000000002',
];
const row: KeyLimitsRow = {
  id,
  tenantId: otherId,
  kind: 'key',
  scopes: ['read', 'spend'],
  addresses: ['192.0.2.0/24'],
  expiresAt,
};
const later = (ms: number) => new Date(expiresAt.getTime() + ms);
const forEver = { ...row, expiresAt: null };

test.each<[string, KeyLimitsRow, Partial<KeyLimitsRow>, boolean]>([
  ['as it was sealed', row, {}, true],
  ['which ends earlier', row, { expiresAt: later(-1) }, true],
  ['which ends later', row, { expiresAt: later(1) }, false],
  ['which no longer ends', row, { expiresAt: null }, false],
  ['as it was sealed, without an end', forEver, {}, true],
  ['which now ends', forEver, { expiresAt }, true],
  ['with other scopes', row, { scopes: ['read'] }, false],
  ['with all scopes', row, { scopes: null }, false],
  ['with other addresses', row, { addresses: ['192.0.2.0/23'] }, false],
  ['with any address', row, { addresses: null }, false],
  ['of a first key', { ...row, scopes: null, addresses: null, kind: 'hmac' }, {}, true],
  ['with another id', row, { id: otherId }, false],
  ['of another kind', row, { kind: 'hmac' }, false],
  ['of another tenant', row, { tenantId: id }, false],
])('the seal of a key tells if it fits the row %s', (_, sealed, change, isSound) => {
  const limitsSealed = sealKeyLimits(fixture.store, sealed);
  expect(hasSoundLimits(fixture.store, { ...sealed, ...change, limitsSealed })).toBe(isSound);
});

test.each([
  ['an object', '{"0":["read","spend"],"1":["192.0.2.0/24"],"2":null}', false],
  ['a number as its end', `[["read","spend"],["192.0.2.0/24"],${Number(expiresAt)}]`, false],
  ['a text that is no time as its end', '[["read","spend"],["192.0.2.0/24"],"x"]', false],
  ['no end', '[["read","spend"],["192.0.2.0/24"]]', false],
  ['null', 'null', false],
  ['no JSON', '[', false],
  ['its limits', '[["read","spend"],["192.0.2.0/24"],null]', true],
])('of a seal with %s, %s is sound: %s', (_, text, isSound) => {
  const { store } = fixture;
  const limitsSealed = store.sealer.seal(keyLimitsPlace(row), text);
  expect(hasSoundLimits(store, { ...row, limitsSealed })).toBe(isSound);
});

test('a key without a seal is sound, and one with an unreadable seal is not', () => {
  expect(hasSoundLimits(fixture.store, { ...row, limitsSealed: null })).toBe(true);
  expect(hasSoundLimits(fixture.store, { ...row, limitsSealed: Buffer.from('x') })).toBe(false);
});

test('a first key has all scopes, and a scope that this version does not know is left out', () => {
  expect(keyLimitsOf({ ...row, scopes: null, addresses: null })).toEqual({
    scopes: keyScopes,
    addresses: [],
    expiresAt,
  });
  expect(keyLimitsOf({ ...row, scopes: ['read', 'x'] })).toEqual({
    scopes: ['read'],
    addresses: ['192.0.2.0/24'],
    expiresAt,
  });
});

type SealedRow = KeyLimitsRow & { readonly limitsSealed: Uint8Array | null };

/** The secrets of all tenants: those of keys, or those of webhooks. */
const readRows = ({ database }: Fixture, of: 'keys' | 'webhooks') =>
  database.query<SealedRow>(
    `SELECT id, tenant_id AS "tenantId", kind, scopes, addresses, expires_at AS "expiresAt",
       limits_sealed AS "limitsSealed" FROM tenant_secrets
     WHERE (kind = 'webhook') = ($1 = 'webhooks') ORDER BY id`,
    [of],
  );

test('a rotation seals the earlier end of the secrets that it ends', async () => {
  const own = await createFixture();
  const { store } = own;
  const tenantId = await own.tenant();
  const rotation = { tenantId, secret: 'hsk_test_9', overlapMs: 60_000, force: true };
  for (const kind of ['hmac', 'hmac', 'webhook'] as const)
    await rotateTenantSecret(store, { ...rotation, kind }, testAuthor);
  const keys = await readRows(own, 'keys');
  expect(keys).toHaveLength(3);
  for (const key of keys) {
    expect(hasSoundLimits(store, key)).toBe(true);
    const end = key.expiresAt === null ? null : new Date(key.expiresAt.getTime() + 1);
    expect([end, hasSoundLimits(store, { ...key, expiresAt: end })]).toEqual([end, end === null]);
  }
  const seals = (await readRows(own, 'webhooks')).map(({ limitsSealed }) => limitsSealed);
  expect(seals).toEqual([null, null]);
});

test('all keys of the previous version are sealed, page by page, except those that are locked', async () => {
  const own = await createFixture();
  const { store, database } = own;
  const tenantId = await own.tenant();
  await database.query(`SET session_replication_role = replica;
    INSERT INTO tenant_secrets (id, tenant_id, kind, sealed, created_at, scopes, addresses)
      SELECT ('00000000-0000-7000-8000-' || lpad((1002 - number)::text, 12, '0'))::uuid, '${tenantId}', 'key',
        'x', svc_now(), '{read}', '{}' FROM generate_series(1, 1001) number;
    SET session_replication_role = origin`);
  const lastId = '00000000-0000-7000-8000-000000001001';
  const other = await beginOther(own);
  await other.query('SELECT FROM tenant_secrets WHERE id = $1 FOR UPDATE', [lastId]);
  expect(await sealAllKeyLimits(store)).toBe(1_000);
  const unsealed = async () =>
    (await readRows(own, 'keys')).flatMap((one) => (one.limitsSealed === null ? [one.id] : []));
  expect(await unsealed()).toEqual([lastId]);
  await other.commit();
  expect(await sealAllKeyLimits(store)).toBe(1);
  expect(await unsealed()).toEqual([]);
  expect((await readRows(own, 'keys')).filter((key) => !hasSoundLimits(store, key))).toEqual([]);
  expect(await readRows(own, 'webhooks')).toMatchObject([{ limitsSealed: null }]);
  expect(await sealAllKeyLimits(store)).toBe(0);
});

test('a seal that Postgres refuses fails the command', async () => {
  const own = await createFixture();
  const { store, database, tenant } = own;
  const tenantId = await tenant();
  await database.query(`SET session_replication_role = replica;
    UPDATE tenant_secrets SET limits_sealed = NULL WHERE kind = 'hmac';
    SET session_replication_role = origin`);
  await database.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
     CREATE TRIGGER refuse BEFORE UPDATE ON tenant_secrets EXECUTE FUNCTION refuse()`,
  );
  await expect(sealAllKeyLimits(store)).rejects.toThrow('not now');
  const rotation = {
    tenantId,
    kind: 'hmac',
    secret: 'hsk_test_9',
    overlapMs: 1,
    force: true,
  } as const;
  await expect(rotateTenantSecret(store, rotation, testAuthor)).rejects.toThrow('not now');
});
