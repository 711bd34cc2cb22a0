import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';

/** A process that has published the ids of the master keys that it holds. */
export interface KeyHolder {
  readonly id: string;
  /** The name of the service, or `svc` for a rotation of the master key. */
  readonly service: string;
  readonly host: string;
  /** The process seals under the first key. */
  readonly keyIds: readonly string[];
}

export const keyHeartbeatMs = 5_000;
/** By the database's clock. A process without a heartbeat for this long does not count. */
const silentMs = 30_000;
const live = `seen_at > svc_now() - ${silentMs} * interval '1 millisecond'`;

/**
 * Publishes the ids of the keys of this process, and is also its heartbeat. The id of the key that
 * seals stays in `sealing_keys` until `forgetSealingKeys`.
 */
export async function publishKeys(
  { query, sealer }: Store,
  { id, service, host }: Omit<KeyHolder, 'keyIds'>,
): Promise<void> {
  await query(
    `WITH old AS (DELETE FROM key_holders WHERE seen_at < svc_now() - interval '1 day'),
     sealing AS (
       INSERT INTO sealing_keys (key_id, seen_at) VALUES (($4::text[])[1], svc_now())
       ON CONFLICT (key_id) DO UPDATE SET seen_at = EXCLUDED.seen_at)
     INSERT INTO key_holders (id, service, host, key_ids, seen_at)
     VALUES ($1::uuid, $2, $3, $4::text[], svc_now())
     ON CONFLICT (id) DO UPDATE SET seen_at = EXCLUDED.seen_at`,
    [id, service, host, [...sealer.keyIds]],
  );
}

export async function withdrawKeys({ query }: Store, id: string): Promise<void> {
  await query('DELETE FROM key_holders WHERE id = $1::uuid', [id]);
}

export async function findKeyHolders({ query }: Store): Promise<KeyHolder[]> {
  return query<KeyHolder>(
    `SELECT id, service, host, key_ids AS "keyIds" FROM key_holders WHERE ${live}
     ORDER BY service, host, id`,
    [],
  );
}

/** The ids of the keys under which processes seal, or under which values may still be sealed. */
export async function findSealingKeys({ query }: Store): Promise<string[]> {
  const rows = await query<{ id: string }>(
    'SELECT key_id AS id FROM sealing_keys ORDER BY key_id',
    [],
  );
  return rows.map(({ id }) => id);
}

/** False if values may be sealed under a key that this process does not hold. */
export async function holdsSealingKeys(store: Store): Promise<boolean> {
  const { keyIds } = store.sealer;
  return (await findSealingKeys(store)).every((id) => keyIds.includes(id));
}

/**
 * Call this after a pass, begun at `since`, that found no value left under another key than the
 * first one. Deletes the other ids, except those of processes that sealed after `since`.
 */
export async function forgetSealingKeys({ query, sealer }: Store, since: Date): Promise<void> {
  await query(
    `DELETE FROM sealing_keys WHERE key_id <> $1 AND seen_at < $2
       AND key_id NOT IN (SELECT key_ids[1] FROM key_holders WHERE ${live})`,
    [sealer.keyIds[0], since],
  );
}

export interface UnknownKey extends Error {
  readonly keyId: string;
}

/** True if a value is sealed under a master key that this process does not hold. */
export function isUnknownKey(error: unknown): error is UnknownKey {
  return error instanceof Error && 'code' in error && error.code === 'UNKNOWN_MASTER_KEY';
}

/** True if a live process holds the key, or seals under it. Somebody may have made up the id. */
export async function isKeyInUse(query: Query, { keyId }: UnknownKey): Promise<boolean> {
  const held = await query<{ id: string }>(
    `SELECT unnest(key_ids) AS id FROM key_holders WHERE ${live}
     UNION SELECT key_id FROM sealing_keys`,
    [],
  );
  return held.some(({ id }) => id === keyId);
}
