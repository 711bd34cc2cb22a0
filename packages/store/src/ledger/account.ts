import { type AccountFigures, assertInvariant } from '@svc/domain';
import { insertMovements, type TenantMovements } from './movements.ts';
import type { Queryable, Store } from '../connection/store.ts';

export interface Balance extends AccountFigures {
  lowBalanceThresholdMicros: bigint;
}

/** Null for an unknown tenant. */
export async function readBalance(store: Store, tenantId: string): Promise<Balance | null> {
  const [row] = await store.db.$queryRaw<Balance[]>`
    SELECT balance_micros AS "balanceMicros", held_micros AS "heldMicros",
           rebate_accrued_micros AS "rebateAccruedMicros",
           low_balance_threshold_micros AS "lowBalanceThresholdMicros"
    FROM credit_accounts WHERE tenant_id = ${tenantId}::uuid`;
  return row ?? null;
}

/**
 * Locks and returns a tenant's account. Every transaction that moves the tenant's credits takes
 * this lock first.
 */
export async function lockAccount(tx: Queryable, tenantId: string): Promise<AccountFigures | null> {
  const [account] = await tx.$queryRaw<AccountFigures[]>`
    SELECT balance_micros AS "balanceMicros", held_micros AS "heldMicros",
           rebate_accrued_micros AS "rebateAccruedMicros"
    FROM credit_accounts WHERE tenant_id = ${tenantId}::uuid FOR UPDATE`;
  return account ?? null;
}

/**
 * Appends movements that were planned on the locked account, and updates the account to `after`.
 */
export async function postMovements(
  store: Store,
  tx: Queryable,
  group: TenantMovements & { after: AccountFigures },
): Promise<void> {
  const { tenantId, after } = group;
  await insertMovements(store, tx, group);
  const changed = await tx.$executeRaw`
    UPDATE credit_accounts SET balance_micros = ${after.balanceMicros}, held_micros = ${after.heldMicros},
      rebate_accrued_micros = ${after.rebateAccruedMicros}
    WHERE tenant_id = ${tenantId}::uuid`;
  assertInvariant(changed === 1, 'a locked account exists');
}
