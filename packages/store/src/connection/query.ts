import { createHash } from 'node:crypto';
import { assertInvariant } from '@svc/domain';
import { DatabaseError, type Pool, type PoolClient, type QueryResultRow } from 'pg';
import { isAfterFailure, isReadOnly, TransactionExpired } from './errors.ts';

export interface TransactionOptions {
  /**
   * True: all statements read the same snapshot, and none may write. Default false: each statement
   * reads what is committed when it begins.
   */
  readonly isSnapshot?: boolean;
  /**
   * True: BEGIN and all statements before the first answer are sent together. These statements must
   * only read: if BEGIN fails, they run outside a transaction.
   */
  readonly opensWithReads?: boolean;
  /**
   * Milliseconds from the start of the transaction. After this time, a new statement of `work`
   * throws TransactionExpired. The default is 10 s.
   */
  readonly timeoutMs?: number;
}

export type Query = <Row extends QueryResultRow>(
  this: void,
  text: string,
  values: readonly unknown[],
) => Promise<Row[]>;

const transactionTimeoutMs = 10_000;

function queryOf(connection: Pick<PoolClient, 'query'>): Query {
  return async <Row extends QueryResultRow>(text: string, values: readonly unknown[]) => {
    const name = statementName(text);
    const { rows } = await connection.query<Row>({ name, text, values: [...values] });
    return rows;
  };
}

/** Each query uses one connection of the pool, which stays open after a refused statement. */
export function queryOnPool(pool: Pool): Query {
  return async <Row extends QueryResultRow>(text: string, values: readonly unknown[]) => {
    // `pool.query` would close a connection after a refusal. The next statement could wait for
    // locks of the old session.
    const client = await pool.connect();
    let isBroken = false;
    try {
      return await queryOf(client)<Row>(text, values);
    } catch (error) {
      isBroken = !isRefusal(error);
      throw error;
    } finally {
      client.release(isBroken);
    }
  };
}

/**
 * True if Postgres refused a statement, and the connection is still usable. A read-only session is
 * not, because it may stay read-only after the server no longer is.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof DatabaseError && error.severity === 'ERROR' && !isReadOnly(error);
}

const beginSnapshot = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/**
 * Commits if `work` resolves, and rolls back if it rejects. Throws InvariantError if `work`
 * resolves after a refused statement. Releases `client` in every case.
 */
export async function inTransaction<Result>(
  client: PoolClient,
  work: (query: Query) => Promise<Result>,
  {
    isSnapshot = false,
    opensWithReads = false,
    timeoutMs = transactionTimeoutMs,
  }: TransactionOptions,
): Promise<Result> {
  const expiresMs = performance.now() + timeoutMs;
  let isBroken = false;
  let firstError: unknown;
  const onConnection = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await ask();
    } catch (error) {
      if (!isRefusal(error)) isBroken = true;
      firstError ??= error;
      throw error;
    }
  };
  const query = queryOf(client);
  try {
    const begun = onConnection(() => client.query(isSnapshot ? beginSnapshot : 'BEGIN'));
    // Without this handler, the process would end if `begun` rejected while nothing awaits it.
    begun.catch(() => {});
    // With `opensWithReads`, the first statements do not wait for BEGIN, which saves a round trip.
    if (!opensWithReads) await begun;
    const result = await work(
      async <Row extends QueryResultRow>(text: string, values: readonly unknown[]) => {
        if (performance.now() > expiresMs) throw new TransactionExpired();
        const answer = onConnection(() => query<Row>(text, values));
        const [rows] = await Promise.all([answer, begun]);
        return rows;
      },
    );
    await begun;
    const { command } = await onConnection(() => client.query('COMMIT'));
    assertInvariant(command === 'COMMIT', 'a transaction that commits has no failed statement');
    return result;
  } catch (error) {
    if (!isBroken)
      await onConnection(() => client.query('ROLLBACK')).catch(() => (isBroken = true));
    // The caller needs the cause, not what follows from it.
    throw isAfterFailure(error) ? firstError : error;
  } finally {
    client.release(isBroken);
  }
}

const statementNames = new Map<string, string>();
const statementNamesMax = 1_000;

export function statementName(sql: string): string {
  let name = statementNames.get(sql);
  if (name === undefined) {
    if (statementNames.size >= statementNamesMax) statementNames.clear();
    name = createHash('sha256').update(sql).digest('base64url');
    statementNames.set(sql, name);
  }
  return name;
}
