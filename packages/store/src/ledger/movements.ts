import type { Movement } from '@svc/domain';
import type { Query } from '../connection/query.ts';
import { statement, type ValuesOf } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';

export interface TenantMovements {
  tenantId: string;
  movements: readonly Movement[];
  submissionId?: string;
  purchaseId?: string;
  reference?: string;
}

export interface LedgerEntry extends Omit<TenantMovements, 'movements'> {
  readonly id: string;
  readonly movement: Movement;
}

export function entriesOf(store: Store, groups: readonly TenantMovements[]): LedgerEntry[] {
  return groups.flatMap(({ movements, ...group }) =>
    movements.map((movement) => ({ id: store.newId(), movement, ...group })),
  );
}

export const entryParameters = {
  entry_id: 'uuid[]',
  entry_tenant_id: 'uuid[]',
  entry_type: 'text[]',
  debit_account: 'text[]',
  credit_account: 'text[]',
  amount: 'bigint[]',
  balance_after: 'bigint[]',
  held_after: 'bigint[]',
  entry_submission_id: 'uuid[]',
  purchase_id: 'uuid[]',
  reference: 'text[]',
} as const;

export const insertEntriesSql = `
  INSERT INTO ledger_entries (id, tenant_id, type, debit_account, credit_account, amount_micros,
    balance_after_micros, held_after_micros, submission_id, purchase_id, reference, created_at)
  SELECT id, tenant_id, type, debit_account, credit_account, amount, balance, held, submission_id,
    purchase_id, reference, svc_now()
  FROM unnest($entry_id, $entry_tenant_id, $entry_type, $debit_account, $credit_account, $amount,
      $balance_after, $held_after, $entry_submission_id, $purchase_id, $reference) WITH ORDINALITY
    AS r (id, tenant_id, type, debit_account, credit_account, amount, balance, held, submission_id,
      purchase_id, reference, ordinality)
  ORDER BY ordinality
  RETURNING id`;

export function entryColumns(entries: readonly LedgerEntry[]): ValuesOf<typeof entryParameters> {
  const movements = entries.map(({ movement }) => movement);
  return {
    entry_id: entries.map(({ id }) => id),
    entry_tenant_id: entries.map(({ tenantId }) => tenantId),
    entry_type: movements.map(({ type }) => type),
    debit_account: movements.map(({ debit }) => debit),
    credit_account: movements.map(({ credit }) => credit),
    amount: movements.map(({ amountMicros }) => amountMicros),
    balance_after: movements.map(({ after }) => after.balanceMicros),
    held_after: movements.map(({ after }) => after.heldMicros),
    entry_submission_id: entries.map(({ submissionId }) => submissionId ?? null),
    purchase_id: entries.map(({ purchaseId }) => purchaseId ?? null),
    reference: entries.map(({ reference }) => reference ?? null),
  };
}

const insertEntries = statement(entryParameters, insertEntriesSql);

/**
 * Appends ledger entries in the order given. The caller has locked each tenant's account, so that
 * the tenant's entries are numbered in the order of their commits.
 */
export async function insertMovements(
  store: Store,
  query: Query,
  ...groups: TenantMovements[]
): Promise<void> {
  const entries = entriesOf(store, groups);
  if (entries.length > 0) await insertEntries(query, entryColumns(entries));
}
