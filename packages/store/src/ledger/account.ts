import { type AccountFigures, assertInvariant } from '@svc/domain';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { insertMovements, type TenantMovements } from './movements.ts';

export interface Balance extends AccountFigures {
  lowBalanceThresholdMicros: bigint;
}

const figuresSql = `balance_micros AS "balanceMicros", held_micros AS "heldMicros",
  rebate_accrued_micros AS "rebateAccruedMicros"`;

/** Reads a tenant's balance without a lock. Null for an unknown tenant. */
export async function readBalance(store: Store, tenantId: string): Promise<Balance | null> {
  const [row] = await store.query<Balance>(
    `SELECT ${figuresSql}, low_balance_threshold_micros AS "lowBalanceThresholdMicros"
     FROM credit_accounts WHERE tenant_id = $1::uuid`,
    [tenantId],
  );
  return row ?? null;
}

/**
 * Locks a tenant's account, which a transaction must do before it moves the tenant's credits. Null
 * for an unknown tenant.
 */
export async function lockAccount(query: Query, tenantId: string): Promise<AccountFigures | null> {
  const [row] = await query<AccountFigures>(
    `SELECT ${figuresSql} FROM credit_accounts WHERE tenant_id = $1::uuid FOR UPDATE`,
    [tenantId],
  );
  return row ?? null;
}

/**
 * Writes the planned movements and the account's new figures. The caller has locked the account.
 */
export async function postMovements(
  store: Store,
  query: Query,
  group: TenantMovements & { after: AccountFigures },
): Promise<void> {
  const { tenantId, after } = group;
  await insertMovements(store, query, group);
  const changed = await query(
    `UPDATE credit_accounts
     SET balance_micros = $2, held_micros = $3, rebate_accrued_micros = $4
     WHERE tenant_id = $1::uuid RETURNING 1`,
    [tenantId, after.balanceMicros, after.heldMicros, after.rebateAccruedMicros],
  );
  assertInvariant(changed.length === 1, 'a locked account exists');
}
