import { sqlState, uniqueViolation } from './errors.ts';
import { unsealText } from './sealed.ts';
import type { Store } from './store.ts';

/** What authenticates an operator's request (CONTRACT.md section 1, `X-SVC-Operator`). */
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

const secretBinding = (id: string) => `operators.secret_sealed:${id}`;

/** Names tell operators apart in the audit log, so that no two have the same one. */
export async function createOperator(
  store: Store,
  operator: { id: string; name: string; secret: string },
): Promise<{ kind: 'created' } | { kind: 'name_taken' }> {
  const sealed = store.sealer.seal(secretBinding(operator.id), operator.secret);
  try {
    await store.db.$executeRaw`
      INSERT INTO operators (id, name, secret_sealed, created_at)
      VALUES (${operator.id}::uuid, ${operator.name}, ${sealed}, svc_now())`;
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
  const secret = unsealText(store.sealer, secretBinding(operatorId), row.secret_sealed);
  return { operatorId, disabled: row.disabled, secret };
}

/** A page of operators, newest first, older than `before` where it is given. */
export async function listOperators(
  store: Store,
  page: { before: string | null; limit: number },
): Promise<OperatorRecord[]> {
  return store.db.$queryRaw<OperatorRecord[]>`
    SELECT id, name, disabled_at AS "disabledAt", created_at AS "createdAt" FROM operators
    WHERE ${page.before}::uuid IS NULL OR id < ${page.before}::uuid
    ORDER BY id DESC LIMIT ${page.limit}`;
}

/** Refuses its key from now on; null for an unknown operator. A second time changes nothing. */
export async function disableOperator(
  store: Store,
  operatorId: string,
): Promise<OperatorRecord | null> {
  const [row] = await store.db.$queryRaw<OperatorRecord[]>`
    UPDATE operators SET disabled_at = COALESCE(disabled_at, svc_now()) WHERE id = ${operatorId}::uuid
    RETURNING id, name, disabled_at AS "disabledAt", created_at AS "createdAt"`;
  return row ?? null;
}
