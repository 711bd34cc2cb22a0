import { creditsMicrosMax, formatCredits, move, toWireId } from '@svc/domain';
import { appendAudit, type Author } from '../audit-log/audit.ts';
import type { Store } from '../connection/store.ts';
import { lockAccount, postMovements } from './account.ts';

export type ReversalOutcome =
  | { kind: 'reversed' | 'repeated'; tenantId: string; creditsMicros: bigint }
  | { kind: 'unknown_purchase' }
  /** Fewer credits are available than the purchase added, because some are spent or held. */
  | { kind: 'not_available'; availableMicros: bigint; creditsMicros: bigint };

/**
 * Reverses a purchase, once (CONTRACT 9, `svc credits reverse`). Takes back all credits of the
 * purchase, or none if the tenant has fewer available.
 */
export function reversePurchase(
  store: Store,
  purchaseId: string,
  by: Author,
): Promise<ReversalOutcome> {
  return store.transaction(async (query): Promise<ReversalOutcome> => {
    const [found] = await query<{ tenant_id: string }>(
      'SELECT tenant_id FROM purchases WHERE id = $1::uuid',
      [purchaseId],
    );
    if (found === undefined) return { kind: 'unknown_purchase' };
    const tenantId = found.tenant_id;
    const account = await lockAccount(query, tenantId);
    // The purchase is read again under the account's lock, because a concurrent reversal may have
    // committed before this transaction got the lock.
    const [purchase] = await query<{
      credits_micros: bigint;
      reference: string;
      reversed: boolean;
    }>(
      `SELECT credits_micros, reference, reversed_at IS NOT NULL AS reversed
       FROM purchases WHERE id = $1::uuid`,
      [purchaseId],
    );
    if (purchase === undefined || account === null) return { kind: 'unknown_purchase' };
    const { credits_micros: creditsMicros, reference, reversed } = purchase;
    if (reversed) return { kind: 'repeated', tenantId, creditsMicros };
    const availableMicros = account.balanceMicros - account.heldMicros;
    if (availableMicros < creditsMicros)
      return { kind: 'not_available', availableMicros, creditsMicros };
    const movement = move(account, 'reversal', creditsMicros);
    const { after } = movement;
    await postMovements(store, query, {
      tenantId,
      movements: [movement],
      after,
      purchaseId,
      reference,
    });
    await query('UPDATE purchases SET reversed_at = svc_now() WHERE id = $1::uuid', [purchaseId]);
    await appendAudit(query, by, {
      action: 'credits.reverse',
      subject: { kind: 'purchase', id: toWireId('pur', purchaseId) },
      before: null,
      after: {
        tenantId: toWireId('tnt', tenantId),
        reference,
        credits: formatCredits(creditsMicros),
      },
    });
    return { kind: 'reversed', tenantId, creditsMicros };
  });
}

export type RebateOutcome =
  | { kind: 'paid'; paidMicros: bigint; availableAfterMicros: bigint }
  | { kind: 'nothing_accrued' }
  | { kind: 'unknown_tenant' }
  | { kind: 'balance_too_large' };

/** Pays a tenant's accrued rebate into its balance (CONTRACT 4). */
export function payRebate(store: Store, tenantId: string, by: Author): Promise<RebateOutcome> {
  return store.transaction(async (query): Promise<RebateOutcome> => {
    const account = await lockAccount(query, tenantId);
    if (account === null) return { kind: 'unknown_tenant' };
    const paidMicros = account.rebateAccruedMicros;
    if (paidMicros === 0n) return { kind: 'nothing_accrued' };
    if (account.balanceMicros + paidMicros > creditsMicrosMax) return { kind: 'balance_too_large' };
    const movement = move(account, 'rebate', paidMicros);
    const { after } = movement;
    await postMovements(store, query, { tenantId, movements: [movement], after });
    await appendAudit(query, by, {
      action: 'credits.pay_rebate',
      subject: { kind: 'tenant', id: toWireId('tnt', tenantId) },
      before: null,
      after: { paid: formatCredits(paidMicros) },
    });
    const availableAfterMicros = after.balanceMicros - after.heldMicros;
    return { kind: 'paid', paidMicros, availableAfterMicros };
  });
}
