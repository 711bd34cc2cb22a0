import type { Query } from '../connection/query.ts';
import type { Sealer } from '../connection/store.ts';
import { type LedgerPlace, startOf } from '../ledger/ledger-audit-entries.ts';
import { isUnknownKey } from '../sealing/key-holders.ts';
import { ledgerCheckpointPlace, unsealText } from '../sealing/sealed.ts';
import { revived, shown } from './audit-state.ts';

/**
 * A checkpoint: the `LedgerPlace` of an account's last verified entry. If somebody restores an
 * older checkpoint, the next `recent` pass only reads more entries.
 */
export interface SealedCheckpoint {
  readonly tenantId: string;
  readonly sealed: Uint8Array;
}

export function sealCheckpoint(sealer: Sealer, place: LedgerPlace): SealedCheckpoint {
  const { tenantId, sequence, sums } = place;
  const text = JSON.stringify({ sequence, sums }, shown);
  return { tenantId, sealed: sealer.seal(ledgerCheckpointPlace({ tenantId }), text) };
}

export interface AccountStart {
  /**
   * The account's checkpoint. Without a valid checkpoint, the place before the account's first
   * entry.
   */
  readonly place: LedgerPlace;
  /** True if the account has a checkpoint that cannot be unsealed. */
  readonly isForged: boolean;
}

/** Returns up to `limit` accounts with tenant ids greater than `after`, in the order of the ids. */
export async function readStarts(
  query: Query,
  sealer: Sealer,
  after: string,
  limit: number,
): Promise<AccountStart[]> {
  const rows = await query<{ tenantId: string; sealed: Uint8Array | null }>(
    `SELECT a.tenant_id AS "tenantId", c.sealed
     FROM credit_accounts a LEFT JOIN ledger_checkpoints c ON c.tenant_id = a.tenant_id
     WHERE a.tenant_id > $1::uuid ORDER BY a.tenant_id LIMIT $2`,
    [after, limit],
  );
  return rows.map(({ tenantId, sealed }) => {
    if (sealed === null) return { place: startOf(tenantId), isForged: false };
    try {
      const text = unsealText(sealer, ledgerCheckpointPlace({ tenantId }), sealed);
      // `sealCheckpoint` has made the text, so its shape is known.
      const { sequence, sums }: Pick<LedgerPlace, 'sequence' | 'sums'> = JSON.parse(text, revived);
      return { place: { tenantId, sequence, sums }, isForged: false };
    } catch (error) {
      if (isUnknownKey(error)) throw error;
      return { place: startOf(tenantId), isForged: true };
    }
  });
}

export async function writeCheckpoints(
  query: Query,
  checkpoints: readonly SealedCheckpoint[],
): Promise<void> {
  if (checkpoints.length === 0) return;
  await query(
    `INSERT INTO ledger_checkpoints (tenant_id, sealed)
     SELECT * FROM unnest($1::uuid[], $2::bytea[])
     ON CONFLICT (tenant_id) DO UPDATE SET sealed = EXCLUDED.sealed`,
    [
      checkpoints.map(({ tenantId }) => tenantId),
      checkpoints.map(({ sealed }) => Buffer.from(sealed)),
    ],
  );
}
