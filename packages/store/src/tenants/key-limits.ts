import { isKeyScope, type KeyLimits, keyScopes } from '@svc/domain';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { isUnknownKey } from '../sealing/key-holders.ts';
import { keyLimitsPlace, unsealText } from '../sealing/sealed.ts';

/** The columns of a key that say what it may do, and their seal. */
export interface KeyLimitsRow {
  readonly id: string;
  readonly tenantId: string;
  readonly kind: 'hmac' | 'key';
  /** Null in the row of a first key, which has all scopes. */
  readonly scopes: readonly string[] | null;
  readonly addresses: readonly string[] | null;
  readonly expiresAt: Date | null;
}

export function keyLimitsOf({ scopes, addresses, expiresAt }: KeyLimitsRow): KeyLimits {
  return { scopes: scopes?.filter(isKeyScope) ?? keyScopes, addresses: addresses ?? [], expiresAt };
}

export function sealKeyLimits({ sealer }: Store, row: KeyLimitsRow): Uint8Array {
  const { scopes, addresses, expiresAt } = row;
  return sealer.seal(keyLimitsPlace(row), JSON.stringify([scopes, addresses, expiresAt]));
}

/**
 * True if the limits of a key match their seal, or have none yet. An older service may have made
 * the key expire earlier. Throws if the master key is missing.
 */
export function hasSoundLimits(
  { sealer }: Store,
  row: KeyLimitsRow & { readonly limitsSealed: Uint8Array | null },
): boolean {
  const { limitsSealed: sealed, scopes, addresses, expiresAt } = row;
  if (sealed === null) return true;
  try {
    const opened: unknown = JSON.parse(unsealText(sealer, keyLimitsPlace(row), sealed));
    if (!Array.isArray(opened)) return false;
    const [sealedScopes, sealedAddresses, sealedExpiry]: unknown[] = opened;
    const written = JSON.stringify([scopes, addresses]);
    return (
      JSON.stringify([sealedScopes, sealedAddresses]) === written &&
      (sealedExpiry === null ||
        (typeof sealedExpiry === 'string' &&
          expiresAt !== null &&
          expiresAt.getTime() <= Date.parse(sealedExpiry)))
    );
  } catch (error) {
    if (isUnknownKey(error)) throw error;
    return false;
  }
}

/** Seals the limits of these rows again, in the transaction that has changed them. */
export async function resealKeyLimits(
  store: Store,
  query: Query,
  rows: readonly KeyLimitsRow[],
): Promise<void> {
  await query(
    `UPDATE tenant_secrets s SET limits_sealed = v.sealed
     FROM unnest($1::uuid[], $2::bytea[]) AS v (id, sealed) WHERE s.id = v.id`,
    [rows.map(({ id }) => id), rows.map((row) => sealKeyLimits(store, row))],
  );
}

const rowsPerPage = 500;

/**
 * Seals the limits of the keys that services of the previous version have created. Returns how many
 * rows it looked at.
 */
export async function sealAllKeyLimits(store: Store): Promise<number> {
  for (let looked = 0, after = '00000000-0000-0000-0000-000000000000'; ;) {
    const last = after;
    const rows = await store.transaction(async (query) => {
      // The rows are locked, so their limits are those that the seal says.
      const page = await query<KeyLimitsRow>(
        `SELECT id, tenant_id AS "tenantId", kind, scopes, addresses, expires_at AS "expiresAt"
         FROM tenant_secrets
         WHERE kind IN ('hmac', 'key') AND limits_sealed IS NULL AND id > $1::uuid
         ORDER BY id LIMIT ${rowsPerPage} FOR UPDATE SKIP LOCKED`,
        [last],
      );
      if (page.length > 0) await resealKeyLimits(store, query, page);
      return page;
    });
    looked += rows.length;
    after = rows.at(-1)?.id ?? after;
    if (rows.length < rowsPerPage) return looked;
  }
}
