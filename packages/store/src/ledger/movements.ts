import type { Movement } from '@svc/domain';
import type { Query, Store } from '../connection/store.ts';

export interface TenantMovements {
  tenantId: string;
  movements: readonly Movement[];
  submissionId?: string;
  purchaseId?: string;
  reference?: string;
}

/** The ledger entries of these movements, in their order, each with a new id. */
export function entriesOf(store: Store, groups: readonly TenantMovements[]) {
  return groups.flatMap((group) =>
    group.movements.map((movement) => ({
      id: store.newId(),
      tenant_id: group.tenantId,
      type: movement.type,
      debit_account: movement.debit,
      credit_account: movement.credit,
      amount_micros: String(movement.amountMicros),
      balance_after_micros: String(movement.after.balanceMicros),
      held_after_micros: String(movement.after.heldMicros),
      submission_id: group.submissionId ?? null,
      purchase_id: group.purchaseId ?? null,
      reference: group.reference ?? null,
    })),
  );
}

/**
 * Appends ledger entries in the order given. The caller has locked the account of each tenant, so
 * that a tenant's entries are numbered in the order of their commits.
 */
export async function insertMovements(
  store: Store,
  query: Query,
  ...groups: TenantMovements[]
): Promise<void> {
  const rows = entriesOf(store, groups);
  if (rows.length === 0) return;
  await query(
    `INSERT INTO ledger_entries (id, tenant_id, type, debit_account, credit_account, amount_micros,
       balance_after_micros, held_after_micros, submission_id, purchase_id, reference, created_at)
     SELECT r.id, r.tenant_id, r.type, r.debit_account, r.credit_account, r.amount_micros,
       r.balance_after_micros, r.held_after_micros, r.submission_id, r.purchase_id, r.reference, svc_now()
     FROM ROWS FROM (jsonb_to_recordset($1::jsonb) AS (id uuid, tenant_id uuid, type text,
       debit_account text, credit_account text, amount_micros bigint, balance_after_micros bigint,
       held_after_micros bigint, submission_id uuid, purchase_id uuid, reference text))
       WITH ORDINALITY AS r
     ORDER BY r.ordinality`,
    [JSON.stringify(rows)],
  );
}
