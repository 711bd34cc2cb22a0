import { fromWireId } from '@svc/domain';
import { Pool } from 'pg';
import { withoutIndexes } from './indexes.ts';
import { accountsSql, entriesSql, submissionsSql, notifiedSql } from './rows.ts';

const rowsPerStatement = 100_000;
const manyRows = 500_000;

export interface Seeded {
  readonly seconds: number;
  readonly databaseMib: number;
}

/**
 * Writes `rows` finished submissions with their ledger entries, events and deliveries. No service
 * may run at the same time, because this may drop indexes.
 */
export async function seedSubmissions(
  databaseUrl: string,
  tenants: readonly string[],
  rows: number,
): Promise<Seeded> {
  const startedMs = performance.now();
  const pool = new Pool({
    connectionString: databaseUrl,
    max: 2,
    options: '-c maintenance_work_mem=512MB -c synchronous_commit=off',
  });
  pool.on('error', () => {});
  const ids = tenants.map((tenantId) => fromWireId('tnt', tenantId) ?? '');
  const write = () => writeRows(pool, ids, rows);
  try {
    // A limit above the default of 1 GB causes fewer checkpoints during the write.
    await pool.query(`ALTER SYSTEM SET max_wal_size = '2GB'`);
    await pool.query('SELECT pg_reload_conf()');
    if (rows < manyRows) await write();
    else await withoutIndexes(pool, ['submissions', 'ledger_entries', 'events'], write);
    await pool.query(accountsSql, [ids, rows, ids.length]);
    await pool.query('VACUUM (FREEZE, ANALYZE)');
    await pool.query('ALTER SYSTEM RESET max_wal_size');
    await pool.query('SELECT pg_reload_conf()');
    await pool.query('CHECKPOINT');
    const { rows: sizes } = await pool.query<{ mib: number }>(
      'SELECT (pg_database_size(current_database()) / 1048576)::int AS mib',
    );
    const seconds = (performance.now() - startedMs) / 1_000;
    return { seconds, databaseMib: sizes[0]?.mib ?? 0 };
  } finally {
    await pool.end();
  }
}

async function writeRows(pool: Pool, ids: readonly string[], rows: number): Promise<void> {
  const { rows: found } = await pool.query<{ balance: string }>(
    'SELECT balance_micros AS balance FROM credit_accounts WHERE tenant_id = $1',
    [ids[0]],
  );
  const balance = found[0]?.balance;
  const now = new Date();
  const run = async (sql: string): Promise<void> => {
    for (let from = 1; from <= rows; from += rowsPerStatement) {
      const to = Math.min(rows, from + rowsPerStatement - 1);
      await pool.query(sql, [ids, from, to, rows, balance, ids.length, now]);
    }
  };
  const others = async (): Promise<void> => {
    await run(submissionsSql);
    await run(notifiedSql);
  };
  await Promise.all([run(entriesSql), others()]);
}
