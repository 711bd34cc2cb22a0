import { creditsMicrosMax, formatCredits, planGrant, toWireId } from '@svc/domain';
import { appendAudit, type Author, operatorIdOf } from '../audit-log/audit.ts';
import { sqlState, uniqueViolation } from '../connection/errors.ts';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { lockAccount, postMovements } from './account.ts';

export interface Grant {
  purchaseId: string;
  tenantId: string;
  creditsMicros: bigint;
  /** Unique for ever. A second grant with the same reference grants nothing. */
  reference: string;
  usdMicros: bigint | null;
  note: string | null;
}

type InsertedGrant =
  | { kind: 'granted'; purchaseId: string; availableAfterMicros: bigint }
  | { kind: 'unknown_tenant' }
  | { kind: 'balance_too_large' };

export type GrantOutcome =
  | InsertedGrant
  | { kind: 'repeated'; purchaseId: string; availableAfterMicros: bigint }
  | { kind: 'reference_conflict' };

/**
 * Grants credits once per reference (CONTRACT 5, `POST /v1/credits/purchase`). A repetition with
 * other contents is a `reference_conflict`.
 */
export async function grantCredits(store: Store, grant: Grant, by: Author): Promise<GrantOutcome> {
  const earlier = await findGrant(store, grant);
  if (earlier !== null) return earlier;
  try {
    const outcome = await store.transaction(async (query): Promise<GrantOutcome> => {
      const inserted = await insertGrant(store, query, grant, by);
      if (inserted.kind === 'granted') await auditGrant(query, grant, by);
      return inserted;
    });
    if (outcome.kind !== 'balance_too_large') return outcome;
    // An equal grant may have committed while this one waited for the account.
    return (await findGrant(store, grant)) ?? outcome;
  } catch (error) {
    if (sqlState(error) !== uniqueViolation) throw error;
    const winner = await findGrant(store, grant);
    if (winner === null) throw error;
    return winner;
  }
}

/**
 * Grants credits in the caller's transaction. The caller writes the audit entry. If the grant is
 * possible but its reference was used before, throws a unique violation.
 */
export async function insertGrant(
  store: Store,
  query: Query,
  grant: Grant,
  by: Author,
): Promise<InsertedGrant> {
  const { purchaseId, tenantId, reference, creditsMicros } = grant;
  const account = await lockAccount(query, tenantId);
  if (account === null) return { kind: 'unknown_tenant' };
  if (account.balanceMicros + creditsMicros > creditsMicrosMax)
    return { kind: 'balance_too_large' };
  const { movements, after } = planGrant(account, creditsMicros);
  const availableAfterMicros = after.balanceMicros - after.heldMicros;
  await query(
    `INSERT INTO purchases (id, tenant_id, reference, credits_micros, usd_micros, note, operator_id,
       available_after_micros, created_at)
     VALUES ($1::uuid, $2::uuid, $3, $4, $5, $6, $7::uuid, $8, svc_now())`,
    [
      purchaseId,
      tenantId,
      reference,
      creditsMicros,
      grant.usdMicros,
      grant.note,
      operatorIdOf(by),
      availableAfterMicros,
    ],
  );
  await postMovements(store, query, { tenantId, movements, after, purchaseId, reference });
  return { kind: 'granted', purchaseId, availableAfterMicros };
}

async function auditGrant(query: Query, grant: Grant, by: Author): Promise<void> {
  await appendAudit(query, by, {
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

async function findGrant({ db }: Store, grant: Grant): Promise<GrantOutcome | null> {
  const purchase = await db.purchase.findUnique({ where: { reference: grant.reference } });
  if (purchase === null) return null;
  const isSame =
    purchase.tenantId === grant.tenantId &&
    purchase.creditsMicros === grant.creditsMicros &&
    purchase.usdMicros === grant.usdMicros &&
    purchase.note === grant.note;
  if (!isSame) return { kind: 'reference_conflict' };
  const { id: purchaseId, availableAfterMicros } = purchase;
  return { kind: 'repeated', purchaseId, availableAfterMicros };
}
