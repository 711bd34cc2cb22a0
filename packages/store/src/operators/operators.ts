import { toWireId } from '@svc/domain';
import { type Author, insertAudit } from '../audit-log/audit.ts';
import { sqlState, uniqueViolation } from '../connection/errors.ts';
import { operatorSecretPlace, unsealText } from '../sealing/sealed.ts';
import type { Queryable, Store } from '../connection/store.ts';

/**
 * The credentials that authenticate an operator's request (CONTRACT 1,
 * `X-SVC-Operator`).
 */
export interface OperatorCredentials {
  operatorId: string;
  disabled: boolean;
  secret: string;
}

export interface OperatorRecord {
  id: string;
  name: string;
  disabledAt: Date | null;
  createdAt: Date;
}

/** Creates an operator. Names are unique, because they identify operators in the audit log. */
export async function createOperator(
  store: Store,
  { id, name, secret }: { id: string; name: string; secret: string },
  by: Author,
): Promise<{ kind: 'created' } | { kind: 'name_taken' }> {
  const sealed = store.sealer.seal(operatorSecretPlace(id), secret);
  try {
    await store.db.$transaction(async (tx) => {
      await tx.$executeRaw`
        INSERT INTO operators (id, name, secret_sealed, created_at)
        VALUES (${id}::uuid, ${name}, ${sealed}, svc_now())`;
      await insertAudit(tx, by, {
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
  const [row] = await store.db.$queryRaw<{ disabled: boolean; secret_sealed: Uint8Array }[]>`
    SELECT disabled_at IS NOT NULL AS disabled, secret_sealed
    FROM operators WHERE id = ${operatorId}::uuid`;
  if (row === undefined) return null;
  const secret = unsealText(store.sealer, operatorSecretPlace(operatorId), row.secret_sealed);
  return { operatorId, disabled: row.disabled, secret };
}

/** A page of operators, newest first, older than `before` if it is given. */
export async function listOperators(
  store: Store,
  page: { before: string | null; limit: number },
): Promise<OperatorRecord[]> {
  return store.db.$queryRaw<OperatorRecord[]>`
    SELECT id, name, disabled_at AS "disabledAt", created_at AS "createdAt" FROM operators
    WHERE id < COALESCE(${page.before}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    ORDER BY id DESC LIMIT ${page.limit}`;
}

/** True if an enabled operator exists. If not, the first operator is created without a key. */
export async function hasOperators(store: Store): Promise<boolean> {
  const rows = await store.db.$queryRaw<unknown[]>`
    SELECT 1 FROM operators WHERE disabled_at IS NULL LIMIT 1`;
  return rows.length > 0;
}

/**
 * Refuses the operator's key from the commit on. Null for an unknown operator. Repeating it has no
 * effect.
 */
export async function disableOperator(
  store: Store,
  operatorId: string,
  by: Author,
): Promise<OperatorRecord | null> {
  return store.db.$transaction(async (tx) => {
    const found = await lockOperator(tx, operatorId);
    if (found === null || found.disabledAt !== null) return found;
    const [row] = await tx.$queryRaw<{ disabledAt: Date }[]>`
      UPDATE operators SET disabled_at = svc_now() WHERE id = ${operatorId}::uuid
      RETURNING disabled_at AS "disabledAt"`;
    const disabledAt = row?.disabledAt ?? null;
    await insertAudit(tx, by, {
      action: 'operator.disable',
      subject: { kind: 'operator', id: toWireId('op', operatorId) },
      before: { disabledAt: null },
      after: { disabledAt },
    });
    return { ...found, disabledAt };
  });
}

/**
 * Gives an operator a new secret. The previous one is refused immediately. Null for an unknown
 * operator.
 */
export async function rotateOperatorSecret(
  store: Store,
  { operatorId, secret }: { operatorId: string; secret: string },
  by: Author,
): Promise<OperatorRecord | null> {
  const sealed = store.sealer.seal(operatorSecretPlace(operatorId), secret);
  return store.db.$transaction(async (tx) => {
    const found = await lockOperator(tx, operatorId);
    if (found === null) return null;
    await tx.$executeRaw`
      UPDATE operators SET secret_sealed = ${sealed} WHERE id = ${operatorId}::uuid`;
    await insertAudit(tx, by, {
      action: 'operator.rotate_secret',
      subject: { kind: 'operator', id: toWireId('op', operatorId) },
      before: null,
      after: null,
    });
    return found;
  });
}

async function lockOperator(tx: Queryable, operatorId: string): Promise<OperatorRecord | null> {
  const [row] = await tx.$queryRaw<OperatorRecord[]>`
    SELECT id, name, disabled_at AS "disabledAt", created_at AS "createdAt"
    FROM operators WHERE id = ${operatorId}::uuid FOR UPDATE`;
  return row ?? null;
}
