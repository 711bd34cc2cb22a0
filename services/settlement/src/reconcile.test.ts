import {
  dispatchDeadlineMs,
  dispatchGraceMs,
  leaseMs,
  runLimitMs,
  startDeadlineMs,
} from '@svc/domain';
import { createDispatcherBus, type DispatcherBus } from '@svc/queue';
import { unsettledGraceMs } from '@svc/store';
import { waitUntil } from '@svc/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { reconcile } from './reconcile.ts';
import {
  createSettlementFixture,
  grantedCredits,
  heldCredits,
  silent,
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

test('what is in time is left alone', async () => {
  for (const state of ['pending', 'dispatched', 'running', 'settling'] as const) {
    await fixture.submission(tenantId, state);
  }
  await reconcile(fixture.deps);
  expect(fixture.counted).toEqual([]);
  expect((await fixture.figures(tenantId)).held).toBe(4 * heldCredits);
});

test('a pending submission past deadline and grace is rejected, and its hold is back', async () => {
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

test('an outcome that nobody settled is settled', async () => {
  const submissionId = await fixture.submission(tenantId, 'settling');
  await fixture.advance(unsettledGraceMs);
  await reconcile(fixture.deps);
  expect((await fixture.stateOf(submissionId)).state).toBe('submitted');
  expect(await fixture.figures(tenantId)).toEqual({ balance: grantedCredits - 25, held: 0 });
});

test('several reconcilers at once mend each case once', async () => {
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

test('one that cannot be mended keeps no other waiting', async () => {
  const broken = await fixture.submission(tenantId, 'settling');
  const submissionId = await fixture.submission(tenantId, 'settling');
  await fixture.database.query(
    `UPDATE tenants SET webhook_url = 'https://hooks.example.com/' WHERE id = $1`,
    [tenantId],
  );
  await fixture.database.query(
    `UPDATE submissions SET outcome_kind = 'failed', failure_code = 'captcha', outcome_sealed = '\\x00' WHERE id = $1`,
    [broken],
  );
  await fixture.advance(unsettledGraceMs);
  await expect(reconcile(fixture.deps)).rejects.toThrow('could not be mended');
  expect((await fixture.stateOf(submissionId)).state).toBe('submitted');
});

test('the rounds go on without Redis', async () => {
  const submissionId = await fixture.submission(tenantId, 'running');
  await fixture.advance(leaseMs);
  fixture.deps.redis.disconnect();
  await reconcile(fixture.deps);
  expect((await fixture.stateOf(submissionId)).state).toBe('failed');
});
