import { toWireId } from '@svc/domain';
import { appendAudit, type Author } from '../audit-log/audit.ts';
import { sqlState, uniqueViolation } from '../connection/errors.ts';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import type { Prisma } from '../generated/client.ts';
import { operatorSecretPlace, unsealText } from '../sealing/sealed.ts';

/** The credentials that authenticate an operator's request (CONTRACT 1, `X-SVC-Operator`). */
export interface OperatorCredentials {
  operatorId: string;
  disabled: boolean;
  secret: string;
}

const operatorFields = {
  id: true,
  name: true,
  disabledAt: true,
  createdAt: true,
} satisfies Prisma.OperatorSelect;

export type OperatorRecord = Prisma.OperatorGetPayload<{ select: typeof operatorFields }>;

/** Creates an operator. Names are unique, because they identify operators in the audit log. */
export async function createOperator(
  store: Store,
  { id, name, secret }: { id: string; name: string; secret: string },
  by: Author,
): Promise<{ kind: 'created' } | { kind: 'name_taken' }> {
  const sealed = store.sealer.seal(operatorSecretPlace(id), secret);
  try {
    await store.transaction(async (query) => {
      await query(
        `INSERT INTO operators (id, name, secret_sealed, created_at)
         VALUES ($1::uuid, $2, $3, svc_now())`,
        [id, name, sealed],
      );
      await appendAudit(query, by, {
        action: 'operator.create',
        subject: { kind: 'operator', id: toWireId('op', id) },
        before: null,
        after: { name },
      });
    });
    return { kind: 'created' };
  } catch (error) {
    if (sqlState(error) !== uniqueViolation) throw error;
    return { kind: 'name_taken' };
  }
}

/** Null for an unknown operator. */
export async function findOperatorCredentials(
  store: Store,
  operatorId: string,
): Promise<OperatorCredentials | null> {
  const [row] = await store.query<{ disabled: boolean; secret_sealed: Uint8Array }>(
    `SELECT disabled_at IS NOT NULL AS disabled, secret_sealed
     FROM operators WHERE id = $1::uuid`,
    [operatorId],
  );
  if (row === undefined) return null;
  const secret = unsealText(store.sealer, operatorSecretPlace(operatorId), row.secret_sealed);
  return { operatorId, disabled: row.disabled, secret };
}

/** A page of operators, newest first. If `before` is given, the page has only older operators. */
export function listOperators(
  { db }: Store,
  { before, limit }: { before: string | null; limit: number },
): Promise<OperatorRecord[]> {
  return db.operator.findMany({
    where: before === null ? {} : { id: { lt: before } },
    orderBy: { id: 'desc' },
    take: limit,
    select: operatorFields,
  });
}

/** True if an enabled operator exists. If none exists, `svc operator create` needs no key. */
export async function hasOperators({ db }: Store): Promise<boolean> {
  const enabled = await db.operator.findFirst({
    where: { disabledAt: null },
    select: { id: true },
  });
  return enabled !== null;
}

/**
 * Disables an operator. Gateways refuse the operator's key within 5 s of the commit (CONTRACT 1).
 * Repeating the call has no effect. Null for an unknown operator.
 */
export async function disableOperator(
  store: Store,
  operatorId: string,
  by: Author,
): Promise<OperatorRecord | null> {
  return store.transaction(async (query) => {
    const found = await lockOperator(query, operatorId);
    if (found === null || found.disabledAt !== null) return found;
    const [row] = await query<{ disabled_at: Date }>(
      'UPDATE operators SET disabled_at = svc_now() WHERE id = $1::uuid RETURNING disabled_at',
      [operatorId],
    );
    const disabledAt = row?.disabled_at ?? null;
    await appendAudit(query, by, {
      action: 'operator.disable',
      subject: { kind: 'operator', id: toWireId('op', operatorId) },
      before: { disabledAt: null },
      after: { disabledAt },
    });
    return { ...found, disabledAt };
  });
}

/**
 * Gives an operator a new secret. Gateways refuse the previous one within 5 s (CONTRACT 1). Returns
 * null if the operator is unknown.
 */
export async function rotateOperatorSecret(
  store: Store,
  { operatorId, secret }: { operatorId: string; secret: string },
  by: Author,
): Promise<OperatorRecord | null> {
  const sealed = store.sealer.seal(operatorSecretPlace(operatorId), secret);
  return store.transaction(async (query) => {
    const found = await lockOperator(query, operatorId);
    if (found === null) return null;
    await query('UPDATE operators SET secret_sealed = $2 WHERE id = $1::uuid', [
      operatorId,
      sealed,
    ]);
    await appendAudit(query, by, {
      action: 'operator.rotate_secret',
      subject: { kind: 'operator', id: toWireId('op', operatorId) },
      before: null,
      after: null,
    });
    return found;
  });
}

async function lockOperator(query: Query, operatorId: string): Promise<OperatorRecord | null> {
  const [row] = await query<OperatorRecord>(
    `SELECT id, name, disabled_at AS "disabledAt", created_at AS "createdAt"
     FROM operators WHERE id = $1::uuid FOR UPDATE`,
    [operatorId],
  );
  return row ?? null;
}
