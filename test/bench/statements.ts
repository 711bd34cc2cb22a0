import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startPostgres } from '@svc/local';
import { Client, type Pool } from 'pg';
import { startDriver } from './load/children.ts';
import { measure } from './measure.ts';
import { options } from './options.ts';
import { life64 } from './shapes.ts';
import { rowsReportedMs } from './systems/counters.ts';
import { startProduct } from './systems/product.ts';
import { RunningSystems } from './systems/running.ts';

/**
 * `pnpm bench:statements [--seconds 6]` measures each SQL statement of whole lives: its time, calls
 * and bytes of WAL. The command also counts commits and WAL flushes.
 */

const shownMax = 24;
const labelLength = 64;
/**
 * The names of the statements that the service sends for a submission. `part` matches the text of
 * the statement.
 */
const names: readonly (readonly [part: RegExp, name: string])[] = [
  [/^WITH RECURSIVE checked/, 'hold'],
  [/SET offer_records/, 'offer records'],
  [/^UPDATE submissions SET state = \S+ node_id/, 'dispatched'],
  [/^UPDATE submissions SET state = \S+ started_at/, 'begin'],
  [/^WITH ended AS \( UPDATE submissions s SET state = .*outc/, 'outcome'],
  [/^SELECT a\.tenant_id, a\.balance_micros/, 'settlement: lock the account'],
  [/^SELECT s\.id, s\.tenant_id, s\.state/, 'settlement: lock the submissions'],
  [
    /^WITH ended AS \( UPDATE submissions s SET \(state/,
    'settlement: end, ledger, event, delivery',
  ],
  [/^WITH endpoint AS MATERIALIZED/, 'delivery: claim'],
  [/^WITH input AS MATERIALIZED/, 'delivery: attempt recorded'],
];
const connectionsMax = 300;

interface Statement {
  readonly text: string;
  readonly calls: number;
  readonly execMicros: number;
  readonly walBytes: number;
}

interface Totals {
  readonly commits: number;
  readonly flushes: number;
  readonly walBytes: number;
}

const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-bench-statements-'));
const driver = await startDriver();
const systems = new RunningSystems();
try {
  await preloadExtension(dir);
  let pool: Pool | undefined;
  const product = await systems.get('product', () =>
    startProduct({
      tenants: 100,
      nodes: 8,
      dir,
      async prepare(stack) {
        ({ pool } = stack);
        await pool.query('CREATE EXTENSION pg_stat_statements');
      },
    }),
  );
  if (pool === undefined) throw new Error('the product has no pool');
  await measure(driver, product, life64, options.seconds);
  await pool.query('SELECT pg_stat_statements_reset()');
  const before = await readTotals(pool);
  const sample = await measure(driver, product, life64, options.seconds);
  const statements = await readStatements(pool);
  const after = await readTotals(pool);
  report(statements, { before, after }, sample.created, sample.cpuMicros['postgres'] ?? 0);
} finally {
  await systems.closeAll();
  await driver.close();
  rmSync(dir, { recursive: true, force: true });
}

/**
 * Makes Postgres load pg_stat_statements at its next start. The setting is kept in the files of the
 * cluster.
 */
async function preloadExtension(clusterDir: string): Promise<void> {
  const postgres = await startPostgres({ dir: clusterDir, durable: true, connectionsMax });
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`);
  await client.end();
  await postgres.stop();
}

async function readStatements(pool: Pool): Promise<Statement[]> {
  const { rows } = await pool.query<Statement>(
    `SELECT min(query) AS text, sum(calls)::float8 AS calls,
       sum(total_exec_time)::float8 * 1000 AS "execMicros", sum(wal_bytes)::float8 AS "walBytes"
     FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_%' GROUP BY queryid
     ORDER BY "execMicros" DESC`,
  );
  return rows;
}

async function readTotals(pool: Pool): Promise<Totals> {
  await new Promise((resolve) => setTimeout(resolve, rowsReportedMs));
  const { rows } = await pool.query<Totals>(
    `SELECT (SELECT xact_commit::float8 FROM pg_stat_database WHERE datname = current_database()) AS commits,
       (SELECT sum(fsyncs)::float8 FROM pg_stat_io WHERE object = 'wal') AS flushes,
       (pg_current_wal_insert_lsn() - '0/0')::float8 AS "walBytes"`,
  );
  const [totals] = rows;
  if (totals === undefined) throw new Error('Postgres returned no counters');
  return totals;
}

function report(
  statements: readonly Statement[],
  { before, after }: { readonly before: Totals; readonly after: Totals },
  lives: number,
  cpuMicros: number,
): void {
  const line = (label: string, calls: number, micros: number, bytes: number) =>
    `${label.padEnd(labelLength)} ${(calls / lives).toFixed(3).padStart(8)} ${(micros / lives).toFixed(1).padStart(8)} ${(bytes / lives).toFixed(0).padStart(8)}\n`;
  const sum = (of: (one: Statement) => number) => statements.reduce((all, one) => all + of(one), 0);
  process.stdout.write(`${'statement'.padEnd(labelLength)}    calls       µs    bytes\n`);
  for (const { text, calls, execMicros, walBytes } of statements.slice(0, shownMax))
    process.stdout.write(line(labelOf(text), calls, execMicros, walBytes));
  process.stdout.write(
    line(
      'all',
      sum((one) => one.calls),
      sum((one) => one.execMicros),
      sum((one) => one.walBytes),
    ),
  );
  const perLife = (key: keyof Totals) => (after[key] - before[key]) / lives;
  process.stdout.write(
    `bench:statements: ${lives} lives; ${cpuMicros.toFixed(0)} µs CPU of Postgres, ${perLife('commits').toFixed(2)} commits, ${perLife('flushes').toFixed(2)} flushes, ${perLife('walBytes').toFixed(0)} bytes of WAL a life\n`,
  );
}

function labelOf(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return names.find(([part]) => part.test(line))?.[1] ?? line.slice(0, labelLength);
}
