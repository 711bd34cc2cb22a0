import { creditsMicrosMax, formatCredits, planGrant, toWireId } from '@svc/domain';
import { type Author, insertAudit, operatorIdOf } from '../audit-log/audit.ts';
import { lockAccount, postMovements } from './account.ts';
import { sqlState, uniqueViolation } from '../connection/errors.ts';
import type { Queryable, Store } from '../connection/store.ts';

export interface Grant {
  purchaseId: string;
  tenantId: string;
  creditsMicros: bigint;
  /** Unique for ever. It makes a grant idempotent. */
  reference: string;
  usdMicros: bigint | null;
  note: string | null;
}

export type GrantOutcome =
  | { kind: 'granted' | 'repeated'; purchaseId: string; availableAfterMicros: bigint }
  | { kind: 'reference_conflict' }
  | { kind: 'unknown_tenant' }
  | { kind: 'balance_too_large' };

/**
 * Grants credits once per reference (CONTRACT 5, `POST /v1/credits/purchase`). The same
 * reference with the same contents returns the first result; with other contents it is a conflict.
 */
export async function grantCredits(store: Store, grant: Grant, by: Author): Promise<GrantOutcome> {
  const earlier = await findGrant(store, grant);
  if (earlier !== null) return earlier;
  try {
    return await store.db.$transaction(async (tx): Promise<GrantOutcome> => {
      const outcome = await insertGrant(store, tx, grant, by);
      if (outcome.kind === 'granted') await auditGrant(tx, grant, by);
      return outcome;
    });
  } catch (error) {
    if (sqlState(error) !== uniqueViolation) throw error;
    const winner = await findGrant(store, grant);
    if (winner === null) throw error;
    return winner;
  }
}

/**
 * Grants credits in the caller's transaction, which writes the audit log itself. Throws if the
 * reference was used before.
 */
export async function insertGrant(
  store: Store,
  tx: Queryable,
  grant: Grant,
  by: Author,
): Promise<GrantOutcome> {
  const { purchaseId, tenantId, reference, creditsMicros } = grant;
  const account = await lockAccount(tx, tenantId);
  if (account === null) return { kind: 'unknown_tenant' };
  if (account.balanceMicros + creditsMicros > creditsMicrosMax)
    return { kind: 'balance_too_large' };
  const { movements, after } = planGrant(account, creditsMicros);
  const availableAfterMicros = after.balanceMicros - after.heldMicros;
  await tx.$executeRaw`
    INSERT INTO purchases (id, tenant_id, reference, credits_micros, usd_micros, note, operator_id, available_after_micros, created_at)
    VALUES (${purchaseId}::uuid, ${tenantId}::uuid, ${reference}, ${creditsMicros},
            ${grant.usdMicros}, ${grant.note}, ${operatorIdOf(by)}::uuid, ${availableAfterMicros}, svc_now())`;
  await postMovements(store, tx, { tenantId, movements, after, purchaseId, reference });
  return { kind: 'granted', purchaseId, availableAfterMicros };
}

async function auditGrant(tx: Queryable, grant: Grant, by: Author): Promise<void> {
  await insertAudit(tx, by, {
    action: 'credits.grant',
    subject: { kind: 'tenant', id: toWireId('tnt', grant.tenantId) },
    before: null,
    after: {
      purchaseId: toWireId('pur', grant.purchaseId),
      credits: formatCredits(grant.creditsMicros),
      reference: grant.reference,
    },
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
