import type { Query } from '../connection/query.ts';

const inForceSql = 'SELECT incarnation FROM recoveries WHERE ended_at IS NULL';

/** The incarnation of the recovery in force. Null if there is none. */
export async function recoveryInForce({
  query,
}: {
  readonly query: Query;
}): Promise<number | null> {
  return await incarnationOf(query, inForceSql);
}

/**
 * Does the same. No recovery begins or ends before the transaction ends. Call it before any other
 * lock, because `endRecovery` locks submissions after the recovery.
 */
export async function lockRecoveryInForce(query: Query): Promise<number | null> {
  return await incarnationOf(query, `${inForceSql} FOR SHARE`);
}

async function incarnationOf(query: Query, sql: string): Promise<number | null> {
  const [row] = await query<{ incarnation: number }>(sql, []);
  return row?.incarnation ?? null;
}
