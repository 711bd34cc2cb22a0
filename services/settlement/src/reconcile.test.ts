import {
  dispatchDeadlineMs,
  dispatchGraceMs,
  leaseMs,
  runLimitMs,
  startDeadlineMs,
} from '@svc/domain';
import { createDispatcherBus, type DispatcherBus } from '@svc/queue';
import { silent } from '@svc/startup/fixture';
import {
  deadLetterFailures,
  pruneReconcileFailures,
  readDeadLetters,
  retryReconcileFailures,
  unsettledGraceMs,
} from '@svc/store';
import { waitUntil } from '@svc/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { reconcile } from './reconcile.ts';
import { settleSubmissions } from './settle.ts';
import {
  createSettlementFixture,
  grantedCredits,
  heldCredits,
  type SettlementFixture,
} from './settlement.fixture.ts';

let fixture: SettlementFixture;
let tenantId: string;
let bus: DispatcherBus;
let stopped: string[];

beforeEach(async () => {
  fixture = await createSettlementFixture();
  tenantId = await fixture.tenant();
  stopped = [];
  bus = createDispatcherBus({
    redis: fixture.deps.redis,
    redisUrl: fixture.redis.redisUrl,
    prefix: 'test',
    dispatcherId: '00000000-0000-7000-8000-000000000001',
    onMessage(message) {
      if (message.kind === 'stop_submission') stopped.push(message.submissionId);
    },
    logger: silent,
  });
  await waitUntil(() => bus.isListening());
});
afterEach(async () => {
  await bus.close();
  await fixture.close();
});

test('a submission that is in time does not change', async () => {
  for (const state of ['pending', 'dispatched', 'running', 'settling'] as const) {
    await fixture.submission(tenantId, state);
  }
  await reconcile(fixture.deps);
  expect(fixture.counted).toEqual([]);
  expect((await fixture.figures(tenantId)).held).toBe(4 * heldCredits);
});

test('a pending submission after deadline and grace is rejected, and its hold is released', async () => {
  const submissionId = await fixture.submission(tenantId, 'pending');
  await fixture.advance(dispatchDeadlineMs);
  await reconcile(fixture.deps);
  expect((await fixture.stateOf(submissionId)).state).toBe('pending');
  await fixture.advance(dispatchGraceMs);
  await reconcile(fixture.deps);
  expect((await fixture.stateOf(submissionId)).state).toBe('rejected');
  expect(await fixture.figures(tenantId)).toEqual({ balance: grantedCredits, held: 0 });
  expect(stopped).toEqual([]);
});

test.each([
  ['dispatched', startDeadlineMs, 'not_started'],
  ['running', leaseMs, 'node_lost'],
  ['running', runLimitMs.standard, 'deadline_exceeded'],
] as const)(
  '%s for %d ms ends as %s with a full refund, and the node is stopped',
  async (state, ms, code) => {
    const submissionId = await fixture.submission(tenantId, state);
    await fixture.advance(ms);
    await reconcile(fixture.deps);
    expect(await fixture.stateOf(submissionId)).toEqual({ state: 'failed', failure: code });
    expect(await fixture.figures(tenantId)).toEqual({ balance: grantedCredits, held: 0 });
    await waitUntil(() => stopped.length === 1);
    expect(stopped).toEqual([submissionId]);
  },
);

test('an unsettled outcome is settled', async () => {
  const submissionId = await fixture.submission(tenantId, 'settling');
  await fixture.advance(unsettledGraceMs);
  await reconcile(fixture.deps);
  expect((await fixture.stateOf(submissionId)).state).toBe('submitted');
  expect(await fixture.figures(tenantId)).toEqual({ balance: grantedCredits - 25, held: 0 });
});

test('several reconcilers at once reconcile each submission once', async () => {
  const [pending, running, settling] = [
    await fixture.submission(tenantId, 'pending'),
    await fixture.submission(tenantId, 'running'),
    await fixture.submission(tenantId, 'settling'),
  ];
  await fixture.advance(leaseMs);
  await Promise.all([1, 2, 3, 4].map(() => reconcile(fixture.deps)));
  expect((await fixture.stateOf(pending)).state).toBe('rejected');
  expect((await fixture.stateOf(running)).state).toBe('failed');
  expect((await fixture.stateOf(settling)).state).toBe('submitted');
  expect(await fixture.figures(tenantId)).toEqual({ balance: grantedCredits - 25, held: 0 });
  const once = fixture.counted.filter((name) => name !== 'unsettled');
  expect(once.toSorted()).toEqual(['failed', 'lease_expired', 'stale_pending', 'submitted']);
});

/** Makes the outcomes of these submissions unreadable. Each settlement of them then fails. */
const breakOutcomes = (submissionIds: readonly string[]) =>
  fixture.database.query(
    `UPDATE submissions SET outcome_kind = 'failed', failure_code = 'captcha', outcome_sealed = '\\x00'
     WHERE id = ANY($1::uuid[])`,
    [submissionIds],
  );

const failuresOf = (submissionId: string) =>
  fixture.database.query<{ failures: number; wait: number; error: string }>(
    `SELECT failures, extract(epoch FROM next_attempt_at - last_failed_at)::int AS wait, error
     FROM reconcile_failures WHERE reconciler = 'settlement' AND subject_id = $1`,
    [submissionId],
  );

test('a submission that cannot be reconciled blocks no other, and is not counted', async () => {
  const broken = await fixture.submission(tenantId, 'settling');
  const submissionId = await fixture.submission(tenantId, 'settling');
  await breakOutcomes([broken]);
  await fixture.advance(unsettledGraceMs);
  fixture.counted.length = 0;
  await expect(reconcile(fixture.deps)).rejects.toThrow('could not reconcile submissions: 1');
  expect((await fixture.stateOf(submissionId)).state).toBe('submitted');
  expect(fixture.counted).toEqual(['submitted', 'unsettled']);
});

test('three hundred submissions that cannot be reconciled block the next ones in no pass', async () => {
  const rich = await fixture.tenant({ credits: 100_000 });
  const broken: string[] = [];
  for (let count = 0; count < 300; count += 20) {
    const some = Array.from({ length: 20 }, () => fixture.submission(rich, 'settling'));
    broken.push(...(await Promise.all(some)));
  }
  await breakOutcomes(broken);
  await fixture.advance(1);
  const submissionId = await fixture.submission(tenantId, 'settling');
  await fixture.advance(unsettledGraceMs);
  await expect(reconcile(fixture.deps)).rejects.toThrow('could not reconcile submissions: 300');
  expect((await fixture.stateOf(submissionId)).state).toBe('submitted');
  // The 300 broken submissions are in backoff, so this pass skips them and does not throw.
  await reconcile(fixture.deps);
});

test('a failing submission is retried with growing backoff, and is a dead letter after five failures', async () => {
  const broken = await fixture.submission(tenantId, 'settling');
  await breakOutcomes([broken]);
  await fixture.advance(unsettledGraceMs);
  const waits: number[] = [];
  for (let failure = 1; failure <= 9; failure += 1) {
    await expect(reconcile(fixture.deps)).rejects.toThrow('could not reconcile submissions');
    const [row] = await failuresOf(broken);
    waits.push(row?.wait ?? 0);
    const { count, retrying } = await readDeadLetters(fixture.store, 10);
    expect([count, retrying]).toEqual(failure < deadLetterFailures ? [0, 1] : [1, 0]);
    const halfMs = (row?.wait ?? 0) * 500;
    await fixture.advance(halfMs);
    await reconcile(fixture.deps);
    await fixture.advance(halfMs);
  }
  expect(waits).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 900]);
  const { listed } = await readDeadLetters(fixture.store, 10);
  expect(listed).toMatchObject([
    { reconciler: 'settlement', subjectId: broken, kind: 'unsettled', failures: 9 },
  ]);
});

test('the failures of a submission are deleted when it succeeds or something else ends it', async () => {
  const [one, other] = [
    await fixture.submission(tenantId, 'settling'),
    await fixture.submission(tenantId, 'settling'),
  ];
  await breakOutcomes([one, other]);
  await fixture.advance(unsettledGraceMs);
  await expect(reconcile(fixture.deps)).rejects.toThrow('could not reconcile submissions');
  await fixture.database.query(
    `UPDATE submissions SET outcome_kind = 'completed', failure_code = NULL WHERE id = ANY($1::uuid[])`,
    [[one, other]],
  );
  await settleSubmissions(fixture.deps, [other]);
  expect(await failuresOf(other)).toHaveLength(1);
  expect((await readDeadLetters(fixture.store, 10)).retrying).toBe(1);
  expect(await retryReconcileFailures(fixture.store, 'settlement')).toBe(2);
  await reconcile(fixture.deps);
  expect(await failuresOf(one)).toEqual([]);
  expect(await pruneReconcileFailures(fixture.store, 'settlement')).toBe(0);
  expect(await failuresOf(other)).toEqual([]);
});

test('two workers that fail at the same submission at once count one failure', async () => {
  const broken = await fixture.submission(tenantId, 'settling');
  await breakOutcomes([broken]);
  await fixture.advance(unsettledGraceMs);
  await Promise.allSettled([1, 2, 3].map(() => reconcile(fixture.deps)));
  expect(await failuresOf(broken)).toMatchObject([{ failures: 1 }]);
});

test('passes continue without Redis', async () => {
  const submissionId = await fixture.submission(tenantId, 'running');
  await fixture.advance(leaseMs);
  fixture.deps.redis.disconnect();
  await reconcile(fixture.deps);
  expect((await fixture.stateOf(submissionId)).state).toBe('failed');
});
