import type { AccountFigures } from '@svc/domain';
import type { Store } from './store.ts';

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
