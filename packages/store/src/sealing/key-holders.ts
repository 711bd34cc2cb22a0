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

/** Publishes the ids of the keys of this process, and is also its heartbeat. */
export async function publishKeys(
  { query, sealer }: Store,
  { id, service, host }: Omit<KeyHolder, 'keyIds'>,
): Promise<void> {
  await query(
    `WITH old AS (DELETE FROM key_holders WHERE seen_at < svc_now() - interval '1 day')
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

/** False if a live process seals under a key that this process does not hold. */
export async function holdsSealingKeys({ query, sealer }: Store): Promise<boolean> {
  const lacking = await query(
    `SELECT FROM key_holders WHERE ${live} AND key_ids[1] <> ALL($1::text[]) LIMIT 1`,
    [[...sealer.keyIds]],
  );
  return lacking.length === 0;
}

/** True if a value is sealed under a master key that this process does not hold. */
export function isUnknownKey(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'UNKNOWN_MASTER_KEY';
}
