import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { assignmentsOf, findEnded } from './assignments/assignments.ts';
import { commitRunning } from './assignments/begin.ts';
import { commitDispatched, loadForDispatch } from './assignments/dispatch.ts';
import { storeOutcome } from './assignments/outcomes.ts';
import { recordUsage } from './assignments/usage-reports.ts';
import { flushCounters } from './counters.fixture.ts';
import { recordAttempt } from './deliveries/attempts.ts';
import { claimDue } from './deliveries/claims.ts';
import { findDueEndpoints } from './deliveries/deliveries.ts';
import { cancelSubmission, rejectPending, settle } from './endings/endings.ts';
import { readStatement } from './ledger/account-statement.ts';
import { readBalance } from './ledger/account.ts';
import { findOverdue } from './reconciling/overdue.ts';
import { exhaustAged, createFixture, type Fixture, usage } from './store.fixture.ts';
import { listSubmissions } from './submissions/submission-list.ts';
import {
  findByIdempotencyKey,
  findSubmission,
  readDispatchOutcome,
} from './submissions/submissions.ts';
import { findTenantCredentials } from './tenants/credentials.ts';

/**
 * On a ledger with many entries (`pnpm cost`: 900,000), each step of a submission reads few rows,
 * and all of them by an index. Postgres counts the reads.
 */

const submissions = Number(process.env['COST_SUBMISSIONS'] ?? 30_000);
const entriesPerSubmission = 3;
/**
 * The number of rows that are read by index must be below this limit. In the first test, the limit
 * applies to each step, in the other tests to all steps together.
 */
const rowsReadMax = 300;

async function seed({ database }: Fixture, tenantId: string): Promise<void> {
  await database.query(`
    INSERT INTO submissions (id, tenant_id, idempotency_key, request_hash, request_id, job_type, tier, state,
      quote_estimated_micros, quote_max_micros, surge_micros, rate_card_version, available_after_micros,
      dispatch_deadline_at, created_at, finished_at, charged_micros, cancelled_by)
    SELECT gen_random_uuid(), CASE n % 3 WHEN 0 THEN '${tenantId}'::uuid ELSE gen_random_uuid() END, 'seed-' || n,
      '\\x00', 'seed', 'ats.application', 'standard', 'cancelled', 0, 2, 1000000, 1, 0,
      svc_now() - n * interval '1 second', svc_now() - n * interval '1 second', svc_now(), 1, 'tenant'
    FROM generate_series(1, ${submissions}) AS n`);
  await database.query(`
    INSERT INTO ledger_entries (id, tenant_id, type, debit_account, credit_account, amount_micros,
      balance_after_micros, held_after_micros, submission_id, created_at)
    SELECT gen_random_uuid(), tenant_id, m.type, m.debit, m.credit, m.amount, 1, 0, s.id, s.created_at
    FROM submissions s CROSS JOIN (VALUES ('hold', 'tenant_available', 'tenant_held', 2),
      ('charge', 'tenant_held', 'revenue', 1), ('release', 'tenant_held', 'tenant_available', 1))
      AS m (type, debit, credit, amount)`);
  await database.query('ANALYZE');
}

interface Reads {
  scanned: number;
  byIndex: number;
  /**
   * The number of index blocks that were read. A search that fetches no row counts too, for example
   * the search for the place of a new index entry.
   */
  indexBlocks: number;
}

const ledgerTables = ['submissions', 'ledger_entries'];

async function readsSoFar({ database }: Fixture, tables: readonly string[]): Promise<Reads> {
  const [row] = await database.query<Reads>(
    `SELECT sum(seq_scan)::int AS scanned, sum(idx_tup_fetch)::int AS "byIndex",
      sum(idx_blks_hit + idx_blks_read)::int AS "indexBlocks"
    FROM pg_stat_user_tables JOIN pg_statio_user_tables USING (relid)
    WHERE pg_stat_user_tables.relname LIKE ANY($1)`,
    [tables],
  );
  return row ?? { scanned: 0, byIndex: 0, indexBlocks: 0 };
}

async function costOf(
  fixture: Fixture,
  run: () => Promise<unknown>,
  tables: readonly string[] = ledgerTables,
): Promise<Reads> {
  await flushCounters(fixture);
  const before = await readsSoFar(fixture, tables);
  await run();
  await flushCounters(fixture);
  const after = await readsSoFar(fixture, tables);
  return {
    scanned: after.scanned - before.scanned,
    byIndex: after.byIndex - before.byIndex,
    indexBlocks: after.indexBlocks - before.indexBlocks,
  };
}

test('no step of the path costs more on a large ledger', { timeout: 240_000 }, async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const tenantId = await fixture.tenant(100_000);
  const nodeId = await fixture.node();
  await seed(fixture, tenantId);
  const [counted] = await database.query<{ count: string }>('SELECT count(*) FROM ledger_entries');
  expect(Number(counted?.count)).toBeGreaterThan(submissions * entriesPerSubmission);
  const costs: Record<string, Reads> = {};
  const step = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
    let result: Promise<T> | undefined;
    costs[name] = await costOf(fixture, () => (result = run()));
    return await (result ?? run());
  };
  const hold = () => step('hold', () => fixture.hold(tenantId, { key: 'cost' }));
  const { id: submissionId } = await hold();
  const mine = { submissionId, nodeId };
  const outcome = { kind: 'completed', usage: {}, result: {} } as const;
  await step('look up a key', () => findByIdempotencyKey(store, tenantId, 'cost'));
  await step('dispatch', () => commitDispatched(store, mine));
  await step('begin', () => commitRunning(store, mine));
  await step('usage', () => recordUsage(store, { ...mine, usage: usage({ actions: '1' }) }));
  await step('outcome', () => storeOutcome(store, { ...mine, outcome }));
  await step('settle', () => settle(store, [submissionId]));
  const other = await fixture.hold(tenantId);
  await step('cancel', () =>
    cancelSubmission(store, { submissionId: other.id, tenantId, by: 'tenant' }),
  );
  const last = await fixture.hold(tenantId);
  await step('reject', () => rejectPending(store, last.id, { onlyOverdue: false }));
  await step('read', () => findSubmission(store, tenantId, submissionId));
  await step('balance', () => readBalance(store, tenantId));
  await step('assignments', () => assignmentsOf(store, nodeId));
  await step('overdue', () => findOverdue(store, { after: null, limit: 100 }));
  await step('due', () => findDueEndpoints(store, { afterTenantId: null, limit: 100 }));
  await step('aged', () => exhaustAged(store));
  await step('claim', () => claimDue(store, [{ tenantId, attemptsMax: 8 }]));
  const statement = { type: null, submissionId: null, after: null, limit: 20 };
  const { lines } = await step('statement', () => readStatement(store, tenantId, statement));
  const filter = { status: null, idempotencyKey: null, createdAfter: null, createdBefore: null };
  const page = await step('list', () =>
    listSubmissions(store, tenantId, { ...filter, after: null, limit: 20 }),
  );
  expect([lines.length, page.length]).toEqual([20, 20]);
  expect(Object.keys(costs)).toHaveLength(18);
  for (const [name, { scanned, byIndex }] of Object.entries(costs)) {
    expect({ name, scanned }).toEqual({ name, scanned: 0 });
    expect({ name, dear: byIndex >= rowsReadMax, byIndex }).toMatchObject({ name, dear: false });
  }
});

test('a plan that was made while the tables were empty reads no more when they have filled', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const tenantId = await fixture.tenant(100_000);
  const nodeId = await fixture.node();
  const life = async () => {
    await findTenantCredentials(store, tenantId);
    const { id: submissionId } = await fixture.hold(tenantId, { key: randomUUID() });
    await findByIdempotencyKey(store, tenantId, submissionId);
    expect(await loadForDispatch(store, [submissionId])).toHaveLength(1);
    await commitDispatched(store, { submissionId, nodeId });
    await commitRunning(store, { submissionId, nodeId });
    await recordUsage(store, { submissionId, nodeId, usage: usage({ actions: '1' }) });
    expect(await findEnded(store, [submissionId])).toEqual([]);
    const outcome = { kind: 'completed', usage: {}, result: {} } as const;
    await storeOutcome(store, { submissionId, nodeId, outcome });
    await storeOutcome(store, { submissionId, nodeId, outcome });
    await settle(store, [submissionId]);
    await findSubmission(store, tenantId, submissionId);
    await readBalance(store, tenantId);
    const cancelled = await fixture.hold(tenantId, { key: randomUUID() });
    const by = { submissionId: cancelled.id, tenantId, by: 'tenant' } as const;
    expect(await cancelSubmission(store, by)).toMatchObject({ kind: 'cancelled' });
    const rejected = await fixture.hold(tenantId, { key: randomUUID() });
    await readDispatchOutcome(store, rejected.id);
    await rejectPending(store, rejected.id, { onlyOverdue: false });
  };
  const tables = [...ledgerTables, 'credit_accounts', 'tenants', 'tenant_secrets'];
  // During these runs Postgres plans the statements, while the tables are small and not analysed.
  for (let time = 0; time < 10; time += 1) await life();
  const blocksWhileEmpty = (await costOf(fixture, life, tables)).indexBlocks;
  await database.query(
    `WITH tenant AS (
       INSERT INTO tenants (id, name, allowed_job_types, created_at)
       SELECT gen_random_uuid(), 'seed', ARRAY['ats.application'], svc_now() FROM generate_series(1, 5000) RETURNING id
     ), secret AS (
       INSERT INTO tenant_secrets (id, tenant_id, kind, sealed, created_at)
       SELECT gen_random_uuid(), id, 'hmac', '\\x00', svc_now() FROM tenant
     )
     INSERT INTO credit_accounts (tenant_id) SELECT id FROM tenant`,
  );
  await database.query(
    `INSERT INTO submissions (id, tenant_id, idempotency_key, request_hash, request_id, job_type, tier, state,
       quote_estimated_micros, quote_max_micros, surge_micros, rate_card_version, available_after_micros, node_id,
       dispatch_deadline_at, created_at, dispatched_at, start_deadline_at, run_deadline_at, payload_sealed)
     SELECT gen_random_uuid(), $1, 'seed-' || n, '\\x00', 'seed', 'ats.application', 'standard', 'dispatched',
       0, 0, 1000000, 1, 0, $2, svc_now(), svc_now() - n * interval '1 millisecond', svc_now(), svc_now(), svc_now(), '\\x00'
     FROM generate_series(1, 5000) AS n`,
    [tenantId, nodeId],
  );
  const { scanned, byIndex, indexBlocks } = await costOf(fixture, life, tables);
  expect(scanned).toBe(0);
  expect(byIndex).toBeLessThan(rowsReadMax);
  // `life` now reads about twice `blocksWhileEmpty`, because a larger index has one more level. If
  // it read a whole index, it would read about six times `blocksWhileEmpty`.
  expect(indexBlocks).toBeLessThan(3 * blocksWhileEmpty);
});

test('a plan that was made without deliveries reads no more behind a backlog', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const tenantId = await fixture.tenant(100_000, 'https://hooks.example.com/svc');
  const deliver = async () => {
    const { id: submissionId } = await fixture.hold(tenantId, { key: randomUUID() });
    await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
    const [claim] = await claimDue(store, [{ tenantId, attemptsMax: 8 }]);
    expect(claim?.attempts).toHaveLength(1);
    for (const attempt of claim?.attempts ?? []) {
      const observed = { statusCode: 200, durationMs: 1, error: null, responseText: 'ok' };
      const verdict = { kind: 'delivered' } as const;
      expect(await recordAttempt(store, { ...attempt, ...observed, verdict })).toEqual({
        status: 'delivered',
      });
    }
  };
  // A name with `%` includes the partitions of its table.
  const tables = ['deliveries%', 'delivery_attempts%', 'events', 'tenants', 'webhook_caps'];
  for (let time = 0; time < 10; time += 1) await deliver();
  const blocksWhileEmpty = (await costOf(fixture, deliver, tables)).indexBlocks;
  await database.query(
    `WITH seed AS (
       SELECT id, gen_random_uuid() AS event_id, gen_random_uuid() AS tenant_id, svc_now() - n * interval '1 ms' AS at
       FROM unnest($1::uuid[]) WITH ORDINALITY AS r (id, n)
     ), event AS (
       INSERT INTO events (id, tenant_id, type, body_sealed, created_at)
       SELECT event_id, tenant_id, 'submission.cancelled', '\\x00', at FROM seed
     ), attempt AS (
       INSERT INTO delivery_attempts (delivery_id, round, number, at) SELECT id, 1, 1, at FROM seed
     )
     INSERT INTO deliveries (id, tenant_id, event_id, type, status, next_attempt_at, round_started_at, created_at)
     SELECT id, tenant_id, event_id, 'submission.cancelled', 'pending', at, at, at FROM seed`,
    [Array.from({ length: 5_000 }, () => store.newId())],
  );
  const { scanned, byIndex, indexBlocks } = await costOf(fixture, deliver, tables);
  expect(scanned).toBe(0);
  expect(byIndex).toBeLessThan(rowsReadMax);
  expect(indexBlocks).toBeLessThan(3 * blocksWhileEmpty);
});
