import { toWireId } from '@svc/domain';
import { createTestDatabase, startTestRedis } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { svcOn } from '../support/svc.ts';

const rows = 100_000;
/**
 * The heap limit of a command, 64 MB. It suffices for any amount of data, because each command that
 * this file tests reads a bounded amount.
 */
const boundedHeap = { NODE_OPTIONS: '--max-old-space-size=64' };
/**
 * The most rows that a command may read. A page of 50 rows reads 5,000 rows if one row in a hundred
 * matches. The limit is twice that.
 */
const rowsReadMax = 10_000;

type Database = Awaited<ReturnType<typeof createTestDatabase>>;
let many: Database;
let redis: Awaited<ReturnType<typeof startTestRedis>>;

beforeAll(async () => {
  [many, redis] = await Promise.all([createTestDatabase(), startTestRedis()]);
  await seed(many, rows);
}, 240_000);
afterAll(async () => {
  await Promise.all([many.close(), redis.close()]);
});

const on = (database: Database) =>
  svcOn({ databaseUrl: database.databaseUrl, redisUrl: redis.redisUrl });

async function seed(database: Database, count: number): Promise<void> {
  const svc = on(database);
  const { tenantId } = await svc.json<{ tenantId: string }>('tenant', 'create', '--name', 'Seeded');
  await svc.json('node', 'create', '--name', 'attic');
  const id = (kind: number) =>
    `(lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - ${count} + n), 12, '0')
      || '700${kind}8000' || lpad(to_hex(n), 12, '0'))::uuid`;
  await database.query(`
    CREATE TABLE seeded AS
    SELECT n, ${id(1)} AS id, ${id(2)} AS event_id, ${id(3)} AS delivery_id,
      (SELECT id FROM tenants LIMIT 1) AS tenant_id, (SELECT id FROM nodes LIMIT 1) AS node_id,
      date_trunc('milliseconds', now()) - (${count} - n) * interval '1 millisecond' AS at,
      CASE WHEN n % 100 = 0 THEN 'failed' WHEN n % 100 = 1 THEN 'cancelled'
        WHEN n % 1000 = 2 THEN 'running' ELSE 'submitted' END AS state
    FROM generate_series(1, ${count}) AS n`);
  await database.query(`
    INSERT INTO submissions (id, tenant_id, idempotency_key, request_hash, request_id, job_type, tier, state,
      quote_estimated_micros, quote_max_micros, surge_micros, rate_card_version, available_after_micros,
      dispatch_deadline_at, created_at, node_id, dispatched_at, start_deadline_at, run_deadline_at,
      started_at, lease_expires_at, outcome_kind, outcome_by, outcome_at, failure_code, charged_micros,
      cancelled_by, finished_at, payload_sealed)
    SELECT id, tenant_id, 'seed-' || n, '\\x00', 'req-' || n, 'ats.application', 'standard', state,
      1, 2, 1000000, (SELECT min(version) FROM rate_cards), 0, at, at, node_id, at, at, at, at, at,
      CASE state WHEN 'submitted' THEN 'completed' WHEN 'failed' THEN 'failed' END,
      CASE WHEN state IN ('submitted', 'failed') THEN 'node' END,
      CASE WHEN state IN ('submitted', 'failed') THEN at END,
      CASE state WHEN 'failed' THEN 'captcha' END,
      CASE WHEN state <> 'running' THEN 1 END, CASE state WHEN 'cancelled' THEN 'tenant' END,
      CASE WHEN state <> 'running' THEN at END,
      CASE state WHEN 'running' THEN '\\x00'::bytea END
    FROM seeded`);
  await database.query(`
    INSERT INTO ledger_entries (id, tenant_id, type, debit_account, credit_account, amount_micros,
      balance_after_micros, held_after_micros, submission_id, created_at)
    SELECT gen_random_uuid(), tenant_id, 'hold', 'tenant_available', 'tenant_held', 2, 2, 2, id, at
    FROM seeded`);
  await database.query(`
    INSERT INTO events (id, tenant_id, type, submission_id, body_sealed, created_at)
    SELECT event_id, tenant_id, 'submission.completed', id, '\\x00', at FROM seeded`);
  await database.query(`
    INSERT INTO deliveries (id, tenant_id, event_id, type, status, created_at, round_started_at, finished_at)
    SELECT delivery_id, tenant_id, event_id, 'submission.completed', 'delivered', at, at, at FROM seeded`);
  await database.query('DROP TABLE seeded');
  await database.query('ANALYZE');
  expect(tenantId).toMatch(/^tnt_/);
}

async function newestOf(database: Database): Promise<{ id: string; tenantId: string }> {
  const [row] = await database.query<{ id: string; tenant_id: string }>(
    `SELECT id, tenant_id FROM submissions WHERE state = 'submitted' ORDER BY id DESC LIMIT 1`,
  );
  if (row === undefined) throw new Error('the database has no submitted submission');
  return { id: toWireId('sub', row.id), tenantId: toWireId('tnt', row.tenant_id) };
}

/**
 * The number of rows and index entries that were read from all tables so far. It includes all reads
 * of each `svc` command that has ended.
 */
async function rowsRead(database: Database): Promise<number> {
  const [row] = await database.query<{ read: number }>(`
    SELECT ((SELECT sum(seq_tup_read) FROM pg_stat_user_tables)
      + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes))::int AS read`);
  return row?.read ?? 0;
}

test.each([
  ['submission list', []],
  ['submission list of all that may be shown', ['--limit', '1000']],
  ['submission list by a rare status', ['--status', 'running']],
  ['submission list by another one', ['--status', 'failed']],
  ['submission list by a frequent one', ['--status', 'submitted']],
  ['submission list of a tenant', ['--tenant', 'TENANT']],
  ['submission list of a tenant by status', ['--tenant', 'TENANT', '--status', 'cancelled']],
  ['trace', []],
  ['status', []],
])(
  'svc %s reads a small part of 100,000 submissions',
  async (what, options) => {
    const { id, tenantId } = await newestOf(many);
    const command = what.startsWith('submission') ? ['submission', 'list'] : what.split(' ');
    const given = options.map((word) => (word === 'TENANT' ? tenantId : word));
    const words = [...command, ...(what === 'trace' ? [id] : given), '--json'];
    const before = await rowsRead(many);
    const ran = await on(many).runProcess(words, boundedHeap);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const read = (await rowsRead(many)) - before;
    console.info(`${what}: ${read} rows of ${rows}`);
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(rowsReadMax);
  },
  60_000,
);
