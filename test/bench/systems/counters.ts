import type { Pool } from 'pg';

export interface Written {
  readonly walBytes: number;
  readonly inserts: number;
  readonly updates: number;
  /** Updates that needed no new index entries (heap-only tuples). */
  readonly hotUpdates: number;
  readonly deletes: number;
}

/**
 * When a connection has been idle for this time, the counts of `Written` contain all rows that the
 * connection wrote.
 */
export const rowsReportedMs = 11_000;

export async function readWritten(pool: Pool): Promise<Written> {
  const { rows } = await pool.query<Written>(
    `SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS "walBytes",
       sum(n_tup_ins)::float8 AS inserts, sum(n_tup_upd)::float8 AS updates,
       sum(n_tup_hot_upd)::float8 AS "hotUpdates", sum(n_tup_del)::float8 AS deletes
     FROM pg_stat_user_tables`,
  );
  const [written] = rows;
  if (written === undefined) throw new Error('Postgres returned no counters');
  return written;
}
