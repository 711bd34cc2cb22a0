import { creditsMicrosMax, formatCredits, planGrant, toWireId } from '@svc/domain';
import { insertAudit } from './audit.ts';
import { lockAccount, postMovements } from './credits.ts';
import { sqlState, uniqueViolation } from './errors.ts';
import type { Queryable, Store } from './store.ts';

export interface Grant {
  purchaseId: string;
  tenantId: string;
  creditsMicros: bigint;
  /** Unique for ever: what makes a grant idempotent. */
  reference: string;
  usdMicros: bigint | null;
  note: string | null;
  /** Who granted it, where that was an operator's key: it is in the audit log then. */
  operatorId: string | null;
  requestId?: string;
}

export type GrantOutcome =
  | { kind: 'granted' | 'repeated'; purchaseId: string; availableAfterMicros: bigint }
  | { kind: 'reference_conflict' }
  | { kind: 'unknown_tenant' }
  | { kind: 'balance_too_large' };

/**
 * Grants credits once per reference (CONTRACT.md section 5, `POST /v1/credits/purchase`): the same
 * reference with the same contents answers what the first one did, with others is a conflict.
 */
export async function grantCredits(store: Store, grant: Grant): Promise<GrantOutcome> {
  const earlier = await findGrant(store, grant);
  if (earlier !== null) return earlier;
  try {
    return await store.db.$transaction((tx) => insertGrant(store, tx, grant));
  } catch (error) {
    if (sqlState(error) !== uniqueViolation) throw error;
    const winner = await findGrant(store, grant);
    if (winner === null) throw error;
    return winner;
  }
}

/** Grants in the caller's transaction. Throws (unique violation) where the reference is used. */
export async function insertGrant(
  store: Store,
  tx: Queryable,
  grant: Grant,
): Promise<GrantOutcome> {
  const account = await lockAccount(tx, grant.tenantId);
  if (account === null) return { kind: 'unknown_tenant' };
  if (account.balanceMicros + grant.creditsMicros > creditsMicrosMax)
    return { kind: 'balance_too_large' };
  const { movements, after } = planGrant(account, grant.creditsMicros);
  const availableAfterMicros = after.balanceMicros - after.heldMicros;
  await tx.$executeRaw`
    INSERT INTO purchases (id, tenant_id, reference, credits_micros, usd_micros, note, operator_id, available_after_micros, created_at)
    VALUES (${grant.purchaseId}::uuid, ${grant.tenantId}::uuid, ${grant.reference}, ${grant.creditsMicros},
            ${grant.usdMicros}, ${grant.note}, ${grant.operatorId}::uuid, ${availableAfterMicros}, svc_now())`;
  await postMovements(store, tx, {
    tenantId: grant.tenantId,
    movements,
    after,
    purchaseId: grant.purchaseId,
    reference: grant.reference,
  });
  await auditGrant(tx, grant);
  return { kind: 'granted', purchaseId: grant.purchaseId, availableAfterMicros };
}

async function auditGrant(tx: Queryable, grant: Grant): Promise<void> {
  if (grant.operatorId === null) return;
  await insertAudit(tx, {
    actor: { kind: 'operator', id: grant.operatorId },
    action: 'credits.grant',
    subject: { kind: 'tenant', id: toWireId('tnt', grant.tenantId) },
    before: null,
    after: {
      purchaseId: toWireId('pur', grant.purchaseId),
      credits: formatCredits(grant.creditsMicros),
      reference: grant.reference,
    },
    requestId: grant.requestId ?? null,
  });
}

interface PurchaseRow {
  id: string;
  tenant_id: string;
  credits_micros: bigint;
  usd_micros: bigint | null;
  note: string | null;
  available_after_micros: bigint;
}

async function findGrant(store: Store, grant: Grant): Promise<GrantOutcome | null> {
  const [row] = await store.db.$queryRaw<PurchaseRow[]>`
    SELECT id, tenant_id, credits_micros, usd_micros, note, available_after_micros
    FROM purchases WHERE reference = ${grant.reference}`;
  if (row === undefined) return null;
  const same =
    row.tenant_id === grant.tenantId &&
    row.credits_micros === grant.creditsMicros &&
    row.usd_micros === grant.usdMicros &&
    row.note === grant.note;
  if (!same) return { kind: 'reference_conflict' };
  return {
    kind: 'repeated',
    purchaseId: row.id,
    availableAfterMicros: row.available_after_micros,
  };
}
