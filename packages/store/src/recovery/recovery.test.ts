import {
  dispatchDeadlineMs,
  dispatchGraceMs,
  failureTraits,
  runLimitMs,
  startDeadlineMs,
} from '@svc/domain';
import { lockSubmission, lockTables, testAuthor, waitUntil } from '@svc/testkit';
import { expect, test } from 'vitest';
import { commitRunning } from '../assignments/begin.ts';
import { commitDispatched } from '../assignments/dispatch.ts';
import { endUnnamed } from '../assignments/lost-assignments.ts';
import { storeOutcome } from '../assignments/outcomes.ts';
import { storeServiceFailure } from '../assignments/service-failures.ts';
import { isAnswerLost, isUnavailable } from '../connection/errors.ts';
import { cancelSubmission, rejectPending, settle } from '../endings/endings.ts';
import { grantCredits } from '../ledger/grants.ts';
import { disableNode } from '../nodes/changes.ts';
import { findOverdue } from '../reconciling/overdue.ts';
import { createFixture, type Fixture, newLinkEpoch } from '../store.fixture.ts';
import { findSubmission } from '../submissions/submissions.ts';
import { begin, dispatch, forget, setBack } from './recovery.fixture.ts';
import { endRecovery, readRecovery } from './recovery.ts';
import { applyReport, noteReported } from './reports.ts';

test('while a recovery is in force, a creation is refused as unavailable and holds nothing', async () => {
  const fixture = await createFixture();
  const tenantId = await fixture.tenant(1_000);
  expect(await begin(fixture)).toEqual({ kind: 'begun', incarnation: 2 });
  expect(await begin(fixture)).toEqual({ kind: 'in_force' });
  const error: unknown = await fixture.hold(tenantId).catch((caught: unknown) => caught);
  expect([isUnavailable(error), isAnswerLost(error)]).toEqual([true, false]);
  expect(await fixture.figures(tenantId)).toEqual({ balance: 1_000, held: 0 });
  await endRecovery(fixture.store, { force: false }, testAuthor);
  expect((await fixture.hold(tenantId)).outcome.kind).toBe('held');
  const again = await begin(fixture);
  expect(again).toEqual({ kind: 'begun', incarnation: 3 });
});

test('while a recovery is in force, nothing ends by a deadline, a lease or a hello, and outcomes are settled', async () => {
  const fixture = await createFixture();
  const { store, advance } = fixture;
  const [tenantId, nodeId] = [await fixture.tenant(), await fixture.node()];
  await fixture.hold(tenantId);
  const waiting = await dispatch(fixture, tenantId, nodeId, 'waiting');
  const running = await dispatch(fixture, tenantId, nodeId, 'running');
  const done = await dispatch(fixture, tenantId, nodeId, 'done');
  for (const { submissionId } of [running, done])
    await commitRunning(store, { submissionId, nodeId, instanceId: 'i' });
  const outcome = { kind: 'completed', usage: {}, result: {} } as const;
  await storeOutcome(store, { submissionId: done.submissionId, nodeId, outcome });
  await begin(fixture);
  await advance(2 * runLimitMs.standard);
  const overdue = async () => (await findOverdue(store, { after: null, limit: 10 })).candidates;
  expect(await overdue()).toMatchObject([{ kind: 'unsettled', subjectId: done.submissionId }]);
  const linkEpoch = await newLinkEpoch(store, nodeId);
  const submissionIds = [waiting.submissionId, running.submissionId];
  const hello = { nodeId, linkEpoch, submissionIds };
  expect(await endUnnamed(store, hello)).toEqual({ kind: 'lost', submissionIds: [] });
  const failures = [
    { submissionId: waiting.submissionId, code: 'not_started' },
    { submissionId: waiting.submissionId, code: 'deadline_exceeded' },
    { submissionId: running.submissionId, code: 'node_lost' },
  ] as const;
  for (const failure of failures)
    expect(await storeServiceFailure(store, failure)).toEqual({ kind: 'refused' });
  await endRecovery(store, { force: true }, testAuthor);
  expect(await overdue()).toHaveLength(4);
  expect(await endUnnamed(store, hello)).toMatchObject({ submissionIds });
});

test('a repeated request does not free the key of a submission that a node may report', async () => {
  const fixture = await createFixture();
  const { store, advance } = fixture;
  const [tenantId, nodeId] = [await fixture.tenant(), await fixture.node()];
  const report = await dispatch(fixture, tenantId, nodeId, 'k');
  const { submissionId } = report;
  await setBack(fixture, submissionId);
  await advance(dispatchDeadlineMs + dispatchGraceMs);
  await begin(fixture);
  const overdue = () => rejectPending(store, submissionId, { onlyOverdue: true });
  expect(await overdue()).toEqual({ kind: 'not_pending', state: 'pending' });
  expect(await applyReport(store, report)).toBe('advanced');
  expect(await fixture.state(submissionId)).toBe('running');
  await endRecovery(store, { force: true }, testAuthor);
  expect((await fixture.hold(tenantId, { key: 'k' })).outcome).toEqual({ kind: 'key_taken' });
});

test.each(['svc recovery end --force', 'svc node disable'])(
  'after %s, the outcome of a submission whose node did not report is unknown',
  async (way) => {
    const fixture = await createFixture();
    const { store, advance } = fixture;
    const [tenantId, nodeId] = [await fixture.tenant(), await fixture.node()];
    const { submissionId } = await dispatch(fixture, tenantId, nodeId, 'k');
    await begin(fixture);
    await advance(startDeadlineMs);
    if (way === 'svc node disable') await disableNode(store, nodeId, testAuthor);
    await endRecovery(store, { force: true }, testAuthor);
    for (const { kind } of (await findOverdue(store, { after: null, limit: 10 })).candidates) {
      const code = kind === 'not_started' ? kind : 'node_lost';
      await storeServiceFailure(store, { submissionId, code });
    }
    await settle(store, [submissionId]);
    const failure = (await findSubmission(store, tenantId, submissionId))?.failure;
    if (failure == null) throw new Error('the submission has not failed');
    expect(failureTraits(failure)).toEqual({ retriable: false, outcomeUnknown: true });
  },
);

test('a report brings a submission to the state that its node proves', async () => {
  const fixture = await createFixture();
  const { store, state } = fixture;
  const [tenantId, nodeId] = [await fixture.tenant(), await fixture.node()];
  const dispatched = await dispatch(fixture, tenantId, nodeId, 'dispatched');
  const pending = await dispatch(fixture, tenantId, nodeId, 'pending');
  await setBack(fixture, pending.submissionId);
  expect(await applyReport(store, dispatched)).toBeNull();
  await begin(fixture);
  expect(await applyReport(store, dispatched)).toBe('advanced');
  expect(await applyReport(store, dispatched)).toBe('known');
  expect(await state(dispatched.submissionId)).toBe('running');
  const another = { ...pending, nodeId: await fixture.node() };
  for (const report of [{ ...pending, receipt: '' }, another])
    expect(await applyReport(store, report)).toBe('unreadable');
  expect(await state(pending.submissionId)).toBe('pending');
  const assigned = { ...pending, isBegun: false };
  expect(await applyReport(store, assigned)).toBe('advanced');
  expect(await state(pending.submissionId)).toBe('dispatched');
  expect(await applyReport(store, { ...another, receipt: pending.receipt })).toBe('unreadable');
});

test('a submission that the backup lacks is inserted from its receipt, with its key and its hold', async () => {
  const fixture = await createFixture();
  const { store, figures } = fixture;
  const [tenantId, nodeId] = [await fixture.tenant(1_000), await fixture.node()];
  const lost = await dispatch(fixture, tenantId, nodeId, 'lost');
  const columns = `id, tenant_id, idempotency_key, request_hash, request_id, job_type, tier, node_id,
    quote_estimated_micros, quote_max_micros, surge_micros, rate_card_version, available_after_micros, created_at`;
  const rows = () => fixture.database.query(`SELECT ${columns} FROM submissions`);
  const before = await rows();
  await forget(fixture, lost.submissionId);
  await begin(fixture);
  // A receipt is bound to the node that got the receipt. Another node cannot use the receipt.
  const thief = { ...lost, nodeId: await fixture.node() };
  expect(await applyReport(store, thief)).toBe('unreadable');
  expect(await rows()).toEqual([]);
  expect(await applyReport(store, lost)).toBe('restored');
  expect(await rows()).toEqual(before);
  expect(await figures(tenantId)).toEqual({ balance: 1_000, held: 200 });
  await endRecovery(store, { force: true }, testAuthor);
  expect((await fixture.hold(tenantId, { key: 'lost' })).outcome).toEqual({ kind: 'key_taken' });
});

test('a submission waits for credits that the backup lacks, and a key that was used again is reported', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const [tenantId, nodeId] = [await fixture.tenant(400), await fixture.node()];
  const lost = await dispatch(fixture, tenantId, nodeId, 'lost');
  const twice = await dispatch(fixture, tenantId, nodeId, 'twice');
  for (const { submissionId } of [lost, twice]) await forget(fixture, submissionId);
  await fixture.hold(tenantId, { key: 'twice' });
  await database.query('UPDATE credit_accounts SET held_micros = balance_micros');
  await begin(fixture);
  expect(await applyReport(store, lost)).toBe('waits_for_credits');
  const waiting = {
    submissionId: lost.submissionId,
    nodeId,
    tenantId,
    finding: 'waits_for_credits',
  };
  expect(await readRecovery(store)).toMatchObject({ open: [waiting] });
  const grant = {
    purchaseId: store.newId(),
    tenantId,
    creditsMicros: 400_000_000n,
    reference: 'again',
  };
  await grantCredits(store, { ...grant, usdMicros: null, note: null }, testAuthor);
  expect(await applyReport(store, lost)).toBe('restored');
  expect(await applyReport(store, twice)).toBe('key_taken');
  const open = [{ submissionId: twice.submissionId, finding: 'key_taken' }];
  expect(await readRecovery(store)).toMatchObject({
    open,
    findings: { restored: 1, key_taken: 1 },
  });
});

test('a recovery ends when every node has reported and nothing is missing, or by force', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const [first, second] = [await fixture.node(), await fixture.node()];
  // The restored database knows no link of the second node, which had its first link after the
  // backup.
  await newLinkEpoch(store, first);
  await begin(fixture);
  const end = (force: boolean) => endRecovery(store, { force }, testAuthor);
  await noteReported(store, { nodeId: first, unreadable: 0 });
  expect(await end(false)).toMatchObject({
    kind: 'incomplete',
    status: { missingNodes: [second], open: [] },
  });
  await noteReported(store, { nodeId: second, unreadable: 0 });
  expect(await end(false)).toEqual({ kind: 'ended', incarnation: 2 });
  expect(await end(true)).toEqual({ kind: 'none_in_force' });
});

test('a report of another node does not replace the report of the node that has a submission', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const [tenantId, nodeId, other] = [
    await fixture.tenant(),
    await fixture.node(),
    await fixture.node(),
  ];
  const report = await dispatch(fixture, tenantId, nodeId, 'k');
  await setBack(fixture, report.submissionId);
  const ofOther = await commitDispatched(store, {
    submissionId: report.submissionId,
    nodeId: other,
  });
  if (ofOther.kind !== 'dispatched') throw new Error(ofOther.kind);
  await setBack(fixture, report.submissionId);
  await begin(fixture);
  expect(await applyReport(store, { ...report, isBegun: false })).toBe('advanced');
  const contradicting = { ...report, nodeId: other, receipt: ofOther.receipt };
  expect(await applyReport(store, contradicting)).toBe('not_this_nodes');
  expect(await readRecovery(store)).toMatchObject({
    findings: { advanced: 1, not_this_nodes: 1 },
    open: [],
  });
  await fixture.advance(startDeadlineMs);
  await endRecovery(store, { force: true }, testAuthor);
  // The node has reported that it has not begun the submission, so its outcome is known.
  const { candidates } = await findOverdue(store, { after: null, limit: 10 });
  expect(candidates).toMatchObject([{ subjectId: report.submissionId, kind: 'not_started' }]);
});

test('unreadable reports are counted for their node alone, and hide nothing', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const [nodeId, hostile] = [await fixture.node(), await fixture.node()];
  const { submissionId, ...lost } = await dispatch(fixture, await fixture.tenant(), nodeId, 'lost');
  await forget(fixture, submissionId);
  await database.query('UPDATE credit_accounts SET held_micros = balance_micros');
  await begin(fixture);
  expect(await applyReport(store, { ...lost, submissionId })).toBe('waits_for_credits');
  const madeUp = { ...lost, nodeId: hostile };
  for (const id of [submissionId, store.newId(), store.newId()])
    expect(await applyReport(store, { ...madeUp, submissionId: id })).toBe('unreadable');
  const status = await readRecovery(store);
  expect(status).toMatchObject({
    open: [{ submissionId, nodeId, finding: 'waits_for_credits' }],
    unreadable: [{ nodeId: hostile, reports: 3 }],
    findings: { waits_for_credits: 1 },
  });
  await disableNode(store, hostile, testAuthor);
  expect(await readRecovery(store)).toMatchObject({ unreadable: [], openCount: 1 });
});

test('a node whose receipts became readable does not block the end any more', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const nodeId = await fixture.node();
  const report = { submissionId: store.newId(), nodeId, receipt: '', isBegun: true };
  await begin(fixture);
  await applyReport(store, { ...report, instanceId: 'i' });
  await noteReported(store, { nodeId, unreadable: 1 });
  const end = () => endRecovery(store, { force: false }, testAuthor);
  expect(await end()).toMatchObject({ kind: 'incomplete', status: { missingNodes: [] } });
  await noteReported(store, { nodeId, unreadable: 0 });
  expect(await end()).toMatchObject({ kind: 'ended' });
});

test('a repeated report of a run renews its lease', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const [tenantId, nodeId] = [await fixture.tenant(), await fixture.node()];
  const running = await dispatch(fixture, tenantId, nodeId, 'running');
  await commitRunning(store, running);
  const waiting = { ...(await dispatch(fixture, tenantId, nodeId, 'waiting')), isBegun: false };
  await begin(fixture);
  await fixture.advance(startDeadlineMs);
  for (const report of [running, waiting]) expect(await applyReport(store, report)).toBe('known');
  await noteReported(store, { nodeId, unreadable: 0 });
  expect(await endRecovery(store, { force: false }, testAuthor)).toMatchObject({ kind: 'ended' });
  expect((await findOverdue(store, { after: null, limit: 10 })).candidates).toEqual([]);
});

test.each(['a node did not report', 'a receipt was unreadable', 'all nodes reported'])(
  'if %s, a pending submission keeps its key unless no node can have it',
  async (what) => {
    const fixture = await createFixture();
    const { store, advance } = fixture;
    const [tenantId, nodeId] = [await fixture.tenant(), await fixture.node()];
    const { id: submissionId } = await fixture.hold(tenantId, { key: 'k' });
    await advance(dispatchDeadlineMs + dispatchGraceMs);
    await begin(fixture);
    const report = { submissionId, nodeId, receipt: '', isBegun: true, instanceId: 'i' };
    if (what === 'a receipt was unreadable') await applyReport(store, report);
    if (what !== 'a node did not report') await noteReported(store, { nodeId, unreadable: 1 });
    await endRecovery(store, { force: true }, testAuthor);
    const { candidates } = await findOverdue(store, { after: null, limit: 10 });
    const isFree = what === 'all nodes reported';
    expect(candidates).toMatchObject([{ kind: isFree ? 'stale_pending' : 'lease_expired' }]);
    if (isFree) return;
    const outcome = { kind: 'completed', usage: {}, result: {} } as const;
    expect(await storeOutcome(store, { submissionId, nodeId, outcome })).toEqual({
      kind: 'not_yours',
    });
    await storeServiceFailure(store, { submissionId, code: 'node_lost' });
    await settle(store, [submissionId]);
    const failure = (await findSubmission(store, tenantId, submissionId))?.failure;
    expect(failure && failureTraits(failure)).toEqual({ retriable: false, outcomeUnknown: true });
    expect(await fixture.figures(tenantId)).toEqual({ balance: 1_000, held: 0 });
    expect((await fixture.hold(tenantId, { key: 'k' })).outcome).toEqual({ kind: 'key_taken' });
  },
);

test('a node that lost its history does not make a submission look as if it never began', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const [tenantId, nodeId] = [await fixture.tenant(), await fixture.node()];
  await dispatch(fixture, tenantId, nodeId, 'k');
  await begin(fixture);
  await noteReported(store, { nodeId, unreadable: 0 });
  await endRecovery(store, { force: false }, testAuthor);
  const { candidates } = await findOverdue(store, { after: null, limit: 10 });
  expect(candidates).toMatchObject([{ kind: 'lease_expired' }]);
});

test('a rejected submission that a node has is left to an operator', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const [tenantId, nodeId] = [await fixture.tenant(), await fixture.node()];
  const report = await dispatch(fixture, tenantId, nodeId, 'k');
  await setBack(fixture, report.submissionId);
  await rejectPending(store, report.submissionId, { onlyOverdue: false });
  await begin(fixture);
  expect(await applyReport(store, report)).toBe('rejected');
  expect(await readRecovery(store)).toMatchObject({ open: [{ finding: 'rejected' }] });
});

test('the outcome of a submission that was cancelled before its report is kept as a late one', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const [tenantId, nodeId] = [await fixture.tenant(), await fixture.node()];
  const report = await dispatch(fixture, tenantId, nodeId, 'k');
  const { submissionId } = report;
  await setBack(fixture, submissionId);
  await begin(fixture);
  await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
  expect(await applyReport(store, report)).toBe('known');
  const outcome = { kind: 'completed', usage: {}, result: {} } as const;
  expect(await storeOutcome(store, { submissionId, nodeId, outcome })).toMatchObject({
    kind: 'late',
  });
});

test('the end of a recovery waits for a report in progress, and sees its effect', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const [tenantId, nodeId] = [await fixture.tenant(), await fixture.node()];
  const report = { ...(await dispatch(fixture, tenantId, nodeId, 'k')), isBegun: false };
  await setBack(fixture, report.submissionId);
  await begin(fixture);
  const unlock = await lockSubmission(database.databaseUrl, report.submissionId);
  const applied = applyReport(store, report);
  await waitForLocks(fixture, 1);
  const ended = endRecovery(store, { force: true }, testAuthor);
  await waitForLocks(fixture, 2);
  await unlock();
  expect(await applied).toBe('advanced');
  expect(await ended).toMatchObject({ kind: 'ended' });
  expect(await fixture.state(report.submissionId)).toBe('dispatched');
  expect(await applyReport(store, report)).toBeNull();
});

test('a rejection that waits for a lock does not free a key after a recovery has begun', async () => {
  const fixture = await createFixture();
  const { store, database, advance } = fixture;
  const [tenantId, nodeId] = [await fixture.tenant(), await fixture.node()];
  const report = await dispatch(fixture, tenantId, nodeId, 'k');
  await setBack(fixture, report.submissionId);
  await advance(dispatchDeadlineMs + dispatchGraceMs);
  const unlock = await lockTables(database.databaseUrl, ['recoveries'], 'ACCESS EXCLUSIVE');
  const begun = begin(fixture);
  await waitForLocks(fixture, 1);
  const rejected = rejectPending(store, report.submissionId, { onlyOverdue: true });
  await waitForLocks(fixture, 2);
  await unlock();
  await begun;
  expect(await rejected).toEqual({ kind: 'not_pending', state: 'pending' });
  expect(await fixture.state(report.submissionId)).toBe('pending');
});

async function waitForLocks({ database }: Fixture, count: number): Promise<void> {
  await waitUntil(async () => {
    const waiting = await database.query(
      `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
    );
    return waiting.length === count;
  });
}
