import { deletionBatchMaxDefault } from '@svc/domain';
import { expect, test } from 'vitest';
import { commitRunning } from '../assignments/begin.ts';
import { commitDispatched } from '../assignments/dispatch.ts';
import { storeOutcome } from '../assignments/outcomes.ts';
import type { Store } from '../connection/store.ts';
import { redeliver } from '../deliveries/redelivery.ts';
import { cancelSubmission, rejectPending, settle } from '../endings/endings.ts';
import {
  exhaustAged,
  claimFor,
  createFixture,
  type Fixture,
  newSubmission,
} from '../store.fixture.ts';
import { findExpired, purgeExpired, purgeSubmission } from './purge.ts';
import { findByIdempotencyKey, findSubmission } from './submissions.ts';

const dayMs = 24 * 3_600_000;
const retentionDays = 30;

async function run({ store, node }: Fixture, submissionId: string): Promise<string> {
  const nodeId = await node();
  await commitDispatched(store, { submissionId, nodeId });
  await commitRunning(store, { submissionId, nodeId });
  return nodeId;
}

async function complete(fixture: Fixture, submissionId: string): Promise<void> {
  const nodeId = await run(fixture, submissionId);
  const result = { confirmationId: 'GH-1' };
  const outcome = { kind: 'completed', usage: {}, result } as const;
  await storeOutcome(fixture.store, { submissionId, nodeId, outcome });
  await settle(fixture.store, [submissionId]);
}

async function fail(fixture: Fixture, submissionId: string): Promise<void> {
  const nodeId = await run(fixture, submissionId);
  const outcome = { kind: 'failed', usage: {}, code: 'captcha', message: 'Ana was asked' } as const;
  await storeOutcome(fixture.store, { submissionId, nodeId, outcome });
  await settle(fixture.store, [submissionId]);
}

const kept = async ({ database }: Fixture): Promise<string[]> => {
  const rows = await database.query<{ id: string }>(
    'SELECT id FROM submissions WHERE payload_sealed IS NOT NULL OR outcome_sealed IS NOT NULL ORDER BY id',
  );
  return rows.map(({ id }) => id);
};

async function purgeDue(
  store: Store,
  { limit = deletionBatchMaxDefault, ...page }: { retentionDays: number; limit?: number },
): Promise<number> {
  const { candidates } = await findExpired(store, { ...page, after: null, limit });
  return purgeExpired(
    store,
    candidates.map(({ subjectId }) => subjectId),
  );
}

test('an ended submission loses its personal data after its time and stays readable', async () => {
  const fixture = await createFixture();
  const { store, hold, advance } = fixture;
  const tenantId = await fixture.tenant();
  const { id } = await hold(tenantId);
  await complete(fixture, id);
  const { id: failedId } = await hold(tenantId);
  await fail(fixture, failedId);
  const before = await findSubmission(store, tenantId, id);
  const failedBefore = await findSubmission(store, tenantId, failedId);
  await advance(retentionDays * dayMs - 60_000);
  expect(await purgeDue(store, { retentionDays })).toBe(0);
  await advance(120_000);
  expect(await purgeDue(store, { retentionDays })).toBe(2);
  expect(await purgeDue(store, { retentionDays })).toBe(0);
  expect(await kept(fixture)).toEqual([]);
  expect(before?.result).toEqual({ confirmationId: 'GH-1' });
  expect(await findSubmission(store, tenantId, id)).toEqual({ ...before, result: null });
  expect(failedBefore?.failure?.message).toBe('Ana was asked');
  expect(await findSubmission(store, tenantId, failedId)).toEqual({
    ...failedBefore,
    failure: { ...failedBefore?.failure, message: '' },
  });
});

test('a submission is purged after every kind of end, and never before its end', async () => {
  const fixture = await createFixture();
  const { store, hold, advance } = fixture;
  const tenantId = await fixture.tenant(10_000);
  const { id: rejected } = await hold(tenantId);
  await rejectPending(store, rejected, { onlyOverdue: false });
  const { id: cancelled } = await hold(tenantId);
  await cancelSubmission(store, { submissionId: cancelled, tenantId, by: 'tenant' });
  const { id: pending } = await hold(tenantId);
  const { id: running } = await hold(tenantId);
  await run(fixture, running);
  await advance(40 * dayMs);
  expect(await purgeDue(store, { retentionDays })).toBe(2);
  expect(await kept(fixture)).toEqual([pending, running].toSorted());
  const unguarded = fixture.database.query('UPDATE submissions SET payload_sealed = NULL');
  await expect(unguarded).rejects.toThrow('submissions_purged_when_ended');
});

test('a used key is still compared by its hash', async () => {
  const fixture = await createFixture();
  const { store, hold, advance } = fixture;
  const tenantId = await fixture.tenant();
  const requestHash = new Uint8Array(32).fill(7);
  const { id } = await hold(tenantId, { key: 'one', requestHash });
  await complete(fixture, id);
  await advance(31 * dayMs);
  await purgeDue(store, { retentionDays });
  const again = await newSubmission(store, tenantId, { key: 'one' });
  expect(again.idempotencyKey).toBe('one');
  const keyed = await findByIdempotencyKey(store, tenantId, 'one');
  expect(keyed).toMatchObject({ id, state: 'submitted' });
  expect(Buffer.from(keyed?.requestHash ?? []).equals(requestHash)).toBe(true);
});

test('an event that is sent again after a purge no longer has the node’s message', async () => {
  const fixture = await createFixture();
  const { store, hold, advance, database } = fixture;
  const tenantId = await fixture.tenant(1_000, 'https://hooks.example.com/');
  const { id } = await hold(tenantId);
  await fail(fixture, id);
  const [delivery] = await database.query<{ id: string }>('SELECT id FROM deliveries');
  await advance(31 * dayMs);
  await purgeDue(store, { retentionDays });
  await exhaustAged(store);
  await redeliver(store, { tenantId, deliveryId: delivery?.id ?? '' });
  const [attempt] = await claimFor(store, tenantId);
  expect(JSON.parse(attempt?.body ?? '')).toMatchObject({
    type: 'submission.failed',
    data: { status: 'failed', failure: { code: 'captcha', message: '', retriable: false } },
  });
});

test('a pass takes a page, the oldest first, and two workers purge nothing twice', async () => {
  const fixture = await createFixture();
  const { store, hold, advance } = fixture;
  const tenantId = await fixture.tenant(10_000);
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    const { id } = await hold(tenantId);
    await cancelSubmission(store, { submissionId: id, tenantId, by: 'tenant' });
    ids.push(id);
    await advance(1_000);
  }
  await advance(31 * dayMs);
  expect(await purgeDue(store, { retentionDays, limit: 2 })).toBe(2);
  expect(await kept(fixture)).toEqual(ids.slice(2).toSorted());
  const counts = await Promise.all([1, 2].map(() => purgeDue(store, { retentionDays })));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3);
  expect(await kept(fixture)).toEqual([]);
});

test('a pass reads only rows that are due, however many are not', async () => {
  const fixture = await createFixture();
  const { store, database, hold } = fixture;
  const tenantId = await fixture.tenant();
  const { id } = await hold(tenantId);
  await cancelSubmission(store, { submissionId: id, tenantId, by: 'tenant' });
  await database.query(
    `INSERT INTO submissions (id, tenant_id, idempotency_key, request_hash, request_id, job_type, tier, state,
       payload_sealed, quote_estimated_micros, quote_max_micros, surge_micros, rate_card_version,
       available_after_micros, dispatch_deadline_at, created_at, finished_at, charged_micros, cancelled_by)
     SELECT gen_random_uuid(), $1, 'seed-' || n, '\\x00', 'seed', 'ats.application', 'standard', 'cancelled',
       CASE WHEN n % 2 = 0 THEN '\\x00'::bytea END, 0, 0, 1000000, 1, 0, svc_now(),
       svc_now() + interval '1 day', svc_now() + CASE WHEN n % 2 = 0 THEN interval '1 day' ELSE interval '-1 day' END, 0, 'tenant'
     FROM generate_series(1, 20000) AS n`,
    [tenantId],
  );
  await database.query('ANALYZE');
  const plan = await database.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN (ANALYZE) SELECT id FROM submissions
     WHERE payload_sealed IS NOT NULL AND finished_at <= svc_now() - 0 * interval '1 day'
       AND created_at <= svc_now() - 0 * interval '1 day' ORDER BY created_at LIMIT 500`,
  );
  const text = plan.map((row) => row['QUERY PLAN']).join('\n');
  expect(text).toContain('submissions_unpurged_idx');
  expect(text).toMatch(/actual time=\S+ rows=1\b/);
});

test('an operator’s purge is immediate and audited, and is refused in flight', async () => {
  const fixture = await createFixture();
  const { store, hold, database } = fixture;
  const by = { actor: { kind: 'local', name: 'ana' }, requestId: 'svc-1' } as const;
  const tenantId = await fixture.tenant();
  const { id } = await hold(tenantId);
  expect(await purgeSubmission(store, id, by)).toEqual({ kind: 'in_flight', state: 'pending' });
  expect(await purgeSubmission(store, tenantId, by)).toEqual({ kind: 'unknown_submission' });
  await fail(fixture, id);
  const submission = { tenantId, state: 'failed' };
  expect(await purgeSubmission(store, id, by)).toEqual({ kind: 'purged', submission });
  expect(await purgeSubmission(store, id, by)).toEqual({ kind: 'purged_before', submission });
  expect(await kept(fixture)).toEqual([]);
  const audited = await database.query(
    `SELECT action, actor_name, after->>'state' AS state FROM audit_log WHERE subject_kind = 'submission'`,
  );
  expect(audited).toEqual([{ action: 'submission.purge', actor_name: 'ana', state: 'failed' }]);
});
