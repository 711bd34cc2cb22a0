import {
  isUnlimitedKey,
  isWithinKey,
  type KeyLimits,
  type KeyScope,
  tenantChangeNames,
  tenantKeysMax,
  toWireId,
} from '@svc/domain';
import type { Author } from '../audit-log/audit.ts';
import { recordTenantChange } from '../audit-log/tenant-changes.ts';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { tenantSecretPlace } from '../sealing/sealed.ts';
import { insertSettingsChanged } from '../webhook-endpoints/settings-changed.ts';
import { hasSoundLimits, keyLimitsOf, type KeyLimitsRow, sealKeyLimits } from './key-limits.ts';
import { lockEpochSql } from './tenants.ts';

/**
 * A valid key of a tenant (CONTRACT 12): a named key from `createKey`, or a first key from the
 * tenant's creation or from a rotation of the HMAC secret.
 */
export interface KeyRecord {
  id: string;
  /** A first key has all scopes. */
  scopes: readonly KeyScope[];
  /** CIDR blocks from which the key may be used. Empty: any address, as for a first key. */
  addresses: string[];
  createdAt: Date;
  expiresAt: Date | null;
  /**
   * The last use, rounded down to the minute. Null if no use is known. A use appears within 20 s
   * (CONTRACT 12).
   */
  lastUsedAt: Date | null;
}

export interface NewKey {
  readonly tenantId: string;
  readonly secret: string;
  readonly scopes: readonly KeyScope[];
  /** CIDR blocks in canonical form. Empty if the key may be used from any address. */
  readonly addresses: readonly string[];
  /** Null for a key that does not expire. */
  readonly expiresInDays: number | null;
}

export type KeyCreation =
  /**
   * `deliveryIds`: the due deliveries of `settings.changed`. If there are any, the caller should
   * call `announceDeliveries` with the tenant's id. Without this call they are sent later.
   */
  | { kind: 'created'; key: KeyRecord; deliveryIds: string[] }
  /** The tenant has at least `tenantKeysMax` valid keys. */
  | { kind: 'key_limit' }
  | SignerRefusal;

/** The key that signs a change of keys cannot make this change (CONTRACT 12). */
type SignerRefusal =
  /** The other key can do something that the signing key cannot. */
  | { kind: 'exceeds_signer' }
  /** The signing key was deleted, or has expired, since the request was authenticated. */
  | { kind: 'signer_gone' };

export type KeyDeletion =
  | { kind: 'deleted'; deliveryIds: string[] }
  | { kind: 'not_found' }
  /** No key without limits, or no key with the scope `settings`, would be left. */
  | { kind: 'last_key' }
  | SignerRefusal;

const validKey = `kind IN ('hmac', 'key') AND (expires_at IS NULL OR expires_at > svc_now())`;
const columns = `id, tenant_id AS "tenantId", kind, scopes, addresses, created_at AS "createdAt",
  expires_at AS "expiresAt", last_used_at AS "lastUsedAt", limits_sealed AS "limitsSealed"`;

interface KeyRow extends KeyLimitsRow {
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly limitsSealed: Uint8Array | null;
}

/** The valid keys of a tenant, newest first. */
export async function listKeys(store: Store, tenantId: string): Promise<KeyRecord[]> {
  return (await readKeys(store.query, tenantId)).map(keyOf);
}

async function readKeys(query: Query, tenantId: string): Promise<KeyRow[]> {
  return query<KeyRow>(
    `SELECT ${columns} FROM tenant_secrets WHERE tenant_id = $1::uuid AND ${validKey}
     ORDER BY created_at DESC, id DESC`,
    [tenantId],
  );
}

function keyOf(row: KeyRow): KeyRecord {
  const { id, createdAt, lastUsedAt } = row;
  const { scopes, addresses, expiresAt } = keyLimitsOf(row);
  return { id, scopes, addresses: [...addresses], createdAt, expiresAt, lastUsedAt };
}

/**
 * Compares a key with the one that signed the request. `valid` are the tenant's keys, read under the
 * lock. An operator has no such limit.
 */
function refusedBySigner(
  valid: readonly KeyRow[],
  key: KeyLimits,
  { actor }: Author,
): SignerRefusal | undefined {
  if (actor.kind !== 'tenant' || actor.keyId === undefined) return undefined;
  const signer = valid.find(({ id }) => id === actor.keyId);
  if (signer === undefined) return { kind: 'signer_gone' };
  return isWithinKey(key, keyLimitsOf(signer)) ? undefined : { kind: 'exceeds_signer' };
}

/**
 * Creates a named key, and deletes the tenant's expired named keys. The limit `tenantKeysMax`
 * counts all valid keys of the tenant, including first keys (`KeyRecord`).
 */
export async function createKey(store: Store, key: NewKey, by: Author): Promise<KeyCreation> {
  const { tenantId, secret, scopes, addresses, expiresInDays } = key;
  return store.transaction(async (query): Promise<KeyCreation> => {
    await query(lockEpochSql, [tenantId]);
    const valid = await readKeys(query, tenantId);
    const { createdAt, expiresAt } = await lifeOf(query, expiresInDays);
    const refusal = refusedBySigner(valid, { scopes, addresses, expiresAt }, by);
    if (refusal !== undefined) return refusal;
    if (valid.length >= tenantKeysMax) return { kind: 'key_limit' };
    await query(
      `DELETE FROM tenant_secrets
       WHERE tenant_id = $1::uuid AND kind = 'key' AND expires_at <= svc_now()`,
      [tenantId],
    );
    const id = store.newId();
    const sealed = store.sealer.seal(tenantSecretPlace({ id, tenantId, kind: 'key' }), secret);
    const limits = { id, tenantId, kind: 'key', scopes, addresses, expiresAt } as const;
    const [row] = await query<KeyRow>(
      `INSERT INTO tenant_secrets (id, tenant_id, kind, sealed, scopes, addresses, created_at, expires_at,
         limits_sealed)
       VALUES ($1::uuid, $2::uuid, 'key', $3, $4::text[], $5::text[], $6::timestamptz, $7::timestamptz, $8)
       RETURNING ${columns}`,
      [id, tenantId, sealed, scopes, addresses, createdAt, expiresAt, sealKeyLimits(store, limits)],
    );
    if (row === undefined) throw new Error('the insert of a key returned no row');
    const created = keyOf(row);
    const change = { tenantId, before: null, after: shown(created) };
    const deliveryIds = await record(store, query, 'key.create', change, by);
    return { kind: 'created', key: created, deliveryIds };
  });
}

/** The times of a new key. The limits are sealed with its end, so the end is read before the insert. */
async function lifeOf(
  query: Query,
  expiresInDays: number | null,
): Promise<{ createdAt: Date; expiresAt: Date | null }> {
  const [row] = await query<{ createdAt: Date; expiresAt: Date | null }>(
    `WITH now AS MATERIALIZED (SELECT svc_now()::timestamptz(3) AS at)
     SELECT at AS "createdAt", at + $1::int * interval '1 day' AS "expiresAt" FROM now`,
    [expiresInDays],
  );
  if (row === undefined) throw new Error('the database returned no time');
  return row;
}

/**
 * Deletes a named key or a first key (`KeyRecord`). New submissions with it are refused at once,
 * and other requests within 5 s (CONTRACT 12).
 */
export async function deleteKey(
  store: Store,
  { tenantId, keyId }: { tenantId: string; keyId: string },
  by: Author,
): Promise<KeyDeletion> {
  return store.transaction(async (query): Promise<KeyDeletion> => {
    // The lock makes deletions run one after another. Without the lock, two concurrent deletions of
    // the last two keys without limits could both pass the check for `last_key`.
    await query(lockEpochSql, [tenantId]);
    const valid = await readKeys(query, tenantId);
    const row = valid.find(({ id }) => id === keyId);
    if (row === undefined) return { kind: 'not_found' };
    const refusal = refusedBySigner(valid, keyLimitsOf(row), by);
    if (refusal !== undefined) return refusal;
    const key = keyOf(row);
    // A key that somebody has edited in the database cannot be used, so it does not count.
    const others = valid
      .filter((other) => other !== row && hasSoundLimits(store, other))
      .map(keyOf);
    const isLast = (counts: (one: KeyRecord) => boolean) => counts(key) && !others.some(counts);
    if (isLast(isUnlimitedKey) || isLast(maySettings)) return { kind: 'last_key' };
    await query('DELETE FROM tenant_secrets WHERE id = $1::uuid', [keyId]);
    const change = { tenantId, before: shown(key), after: null };
    const deliveryIds = await record(store, query, 'key.delete', change, by);
    return { kind: 'deleted', deliveryIds };
  });
}

async function record(
  store: Store,
  query: Query,
  action: 'key.create' | 'key.delete',
  change: { tenantId: string; before: object | null; after: object | null },
  by: Author,
): Promise<string[]> {
  await recordTenantChange(query, by, { ...change, action });
  const what = tenantChangeNames[action];
  return insertSettingsChanged(store, query, { tenantId: change.tenantId, what, by });
}

function maySettings({ scopes }: KeyRecord): boolean {
  return scopes.includes('settings');
}

function shown({ id, scopes, addresses, expiresAt }: KeyRecord): object {
  return { keyId: toWireId('key', id), scopes, addresses, expiresAt };
}

/** `agoMs`: the time since the use, by a monotonic clock. */
export interface KeyUse {
  readonly keyId: string;
  readonly agoMs: number;
}

/**
 * Stores the last uses of keys, to the minute. Skips rows that another transaction has locked, for
 * example another gateway, and returns their ids.
 */
export async function recordKeyUses(store: Store, uses: readonly KeyUse[]): Promise<string[]> {
  const skipped = await store.query<{ id: string }>(
    `WITH later AS MATERIALIZED (
       SELECT s.id, used.at
       FROM unnest($1::uuid[], $2::float8[]) AS r (id, ago_ms)
       CROSS JOIN LATERAL (
         SELECT date_trunc('minute', svc_now() - r.ago_ms * interval '1 millisecond') AS at) used
       JOIN tenant_secrets s ON s.id = r.id
       WHERE s.last_used_at IS NULL OR s.last_used_at < used.at
     ), mine AS MATERIALIZED (
       SELECT s.id, l.at FROM later l JOIN tenant_secrets s ON s.id = l.id
       WHERE s.last_used_at IS NULL OR s.last_used_at < l.at
       FOR UPDATE OF s SKIP LOCKED
     ), stored AS (
       UPDATE tenant_secrets k SET last_used_at = mine.at FROM mine WHERE k.id = mine.id
     )
     SELECT id FROM later EXCEPT SELECT id FROM mine`,
    [uses.map(({ keyId }) => keyId), uses.map(({ agoMs }) => agoMs)],
  );
  return skipped.map(({ id }) => id);
}
