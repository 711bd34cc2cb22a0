import {
  dispatchDeadlineMs,
  dispatchGraceMs,
  leaseMs,
  type OfferAnswer,
  type OfferRecord,
  startDeadlineMs,
} from '@svc/domain';
import { expect, test } from 'vitest';
import type { Store } from '../connection/store.ts';
import { cancelSubmission, rejectPending } from '../endings/endings.ts';
import { findOverdue } from '../reconciling/overdue.ts';
import { offersOfStored, type StoredOffer } from '../schema/offer-texts.ts';
import { createFixture, newSubmission, openRotated, usage } from '../store.fixture.ts';
import { holdSubmission } from '../submissions/hold.ts';
import { readTrace } from '../submissions/trace.ts';
import { assignmentsOf } from './assignments.ts';
import { commitRunning } from './begin.ts';
import { commitDispatched, loadForDispatch, recordOffers } from './dispatch.ts';
import { storeServiceFailure } from './service-failures.ts';
import { recordUsage } from './usage-reports.ts';

async function overdue(store: Store): Promise<object[]> {
  const { candidates } = await findOverdue(store, { after: null, limit: 10 });
  return candidates.map(({ subjectId, kind, nodeId }) => ({
    submissionId: subjectId,
    kind,
    nodeId,
  }));
}

test('the first accept to commit wins, and the payload is returned as it was sent', async () => {
  const { store, tenant, hold, node } = await createFixture();
  const { id: submissionId } = await hold(await tenant());
  const [one, other] = [await node(), await node()];
  const outcomes = await Promise.all([
    commitDispatched(store, { submissionId, nodeId: one }),
    commitDispatched(store, { submissionId, nodeId: other }),
  ]);
  expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['dispatched', 'not_pending']);
  expect(outcomes.find(({ kind }) => kind === 'dispatched')).toMatchObject({
    payloadText: '{"applicationUrl":"https://jobs.example.com/1"}',
    requestId: 'req-1',
  });
});

test('a payload under a master key that the process lacks is not sent, and others of its batch are', async () => {
  const fixture = await createFixture();
  const { store, tenant, hold, node } = fixture;
  const tenantId = await tenant();
  const rotated = openRotated(fixture);
  const sealed = await newSubmission(rotated, tenantId);
  await holdSubmission(rotated, sealed);
  const ids = [(await hold(tenantId)).id, sealed.id, (await hold(tenantId)).id];
  const nodeId = await node();
  const commits = await Promise.all(
    ids.map((submissionId) => commitDispatched(store, { submissionId, nodeId })),
  );
  await rotated.close();
  expect(commits.map(({ kind }) => kind)).toEqual(['dispatched', 'unopened', 'dispatched']);
});

test('nothing is loaded or dispatched after its deadline, and it is overdue only after the grace', async () => {
  const { store, tenant, hold, node, advance } = await createFixture();
  const { id: submissionId } = await hold(await tenant());
  expect(await loadForDispatch(store, [submissionId])).toHaveLength(1);
  await advance(dispatchDeadlineMs);
  expect(await loadForDispatch(store, [submissionId])).toHaveLength(0);
  const nodeId = await node();
  expect(await commitDispatched(store, { submissionId, nodeId })).toEqual({ kind: 'not_pending' });
  const early = await rejectPending(store, submissionId, { onlyOverdue: true });
  expect(early).toEqual({ kind: 'not_pending', state: 'pending' });
  expect(await overdue(store)).toEqual([]);
  await advance(dispatchGraceMs);
  expect(await overdue(store)).toEqual([{ submissionId, kind: 'stale_pending', nodeId: null }]);
  expect(await rejectPending(store, submissionId, { onlyOverdue: true })).toEqual({
    kind: 'rejected',
  });
});

test('only the assigned node may begin, and only the same instance may begin again', async () => {
  const { store, tenant, hold, node } = await createFixture();
  const { id: submissionId } = await hold(await tenant());
  const [mine, other] = [await node(), await node()];
  const begin = async (nodeId: string, instanceId?: string): Promise<string> =>
    (await commitRunning(store, { submissionId, nodeId, instanceId })).kind;
  expect(await begin(mine, 'one')).toBe('refused');
  await commitDispatched(store, { submissionId, nodeId: mine });
  expect(await begin(other, 'one')).toBe('refused');
  expect(await begin(mine, 'one')).toBe('running');
  expect(await begin(mine, 'one')).toBe('running');
  expect(await begin(mine, 'two')).toBe('refused');
  expect(await begin(mine)).toBe('refused');
  expect(await assignmentsOf(store, mine)).toEqual([{ submissionId, state: 'running' }]);
  expect(await assignmentsOf(store, other)).toEqual([]);
});

test('if two instances ask to begin at the same time, one may begin', async () => {
  const { store, tenant, hold, node } = await createFixture();
  const { id: submissionId } = await hold(await tenant());
  const nodeId = await node();
  await commitDispatched(store, { submissionId, nodeId });
  const begins = ['one', 'two', undefined].map((instanceId) =>
    commitRunning(store, { submissionId, nodeId, instanceId }),
  );
  const kinds = (await Promise.all(begins)).map(({ kind }) => kind);
  expect(kinds.toSorted()).toEqual(['refused', 'refused', 'running']);
});

test('a node that names no instance may begin once', async () => {
  const { store, tenant, hold, node } = await createFixture();
  const { id: submissionId } = await hold(await tenant());
  const nodeId = await node();
  await commitDispatched(store, { submissionId, nodeId });
  expect((await commitRunning(store, { submissionId, nodeId })).kind).toBe('running');
  expect((await commitRunning(store, { submissionId, nodeId })).kind).toBe('refused');
  const named = { submissionId, nodeId, instanceId: 'one' };
  expect((await commitRunning(store, named)).kind).toBe('refused');
});

test('a cancelled submission is neither dispatched nor begun', async () => {
  const { store, tenant, hold, node } = await createFixture();
  const tenantId = await tenant();
  const nodeId = await node();
  const [pending, dispatched] = [await hold(tenantId), await hold(tenantId)];
  await commitDispatched(store, { submissionId: dispatched.id, nodeId });
  for (const { id } of [pending, dispatched]) {
    await cancelSubmission(store, { submissionId: id, tenantId, by: 'tenant' });
  }
  const late = await commitDispatched(store, { submissionId: pending.id, nodeId });
  expect(late.kind).toBe('not_pending');
  const begin = await commitRunning(store, { submissionId: dispatched.id, nodeId });
  expect(begin.kind).toBe('refused');
});

test('a node that does not start in time is found, and the deadline is checked again', async () => {
  const { store, tenant, hold, node, advance } = await createFixture();
  const { id: submissionId } = await hold(await tenant());
  const nodeId = await node();
  await commitDispatched(store, { submissionId, nodeId });
  const notStarted = { submissionId, code: 'not_started' } as const;
  expect(await storeServiceFailure(store, notStarted)).toEqual({ kind: 'refused' });
  await advance(startDeadlineMs);
  expect(await overdue(store)).toEqual([{ submissionId, kind: 'not_started', nodeId }]);
  expect(await storeServiceFailure(store, notStarted)).toEqual({ kind: 'stored', nodeId });
});

test('a lease expires unless a frame renews it', async () => {
  const { store, tenant, hold, node, advance } = await createFixture();
  const { id: submissionId } = await hold(await tenant());
  const nodeId = await node();
  await commitDispatched(store, { submissionId, nodeId });
  await commitRunning(store, { submissionId, nodeId });
  await advance(leaseMs - 1_000);
  await recordUsage(store, { submissionId, nodeId, usage: usage({ nodeSeconds: '1' }) });
  await advance(leaseMs - 1_000);
  expect(await overdue(store)).toEqual([]);
  const lost = { submissionId, code: 'node_lost' } as const;
  expect(await storeServiceFailure(store, lost)).toEqual({ kind: 'refused' });
  await advance(1_000);
  expect(await overdue(store)).toEqual([{ submissionId, kind: 'lease_expired', nodeId }]);
  expect(await storeServiceFailure(store, lost)).toEqual({ kind: 'stored', nodeId });
});

test('the run limit counts from dispatch, by tier, however often the lease is renewed', async () => {
  const { store, tenant, hold, node, advance } = await createFixture();
  const { id: submissionId } = await hold(await tenant(), { tier: 'instant' });
  const nodeId = await node();
  await commitDispatched(store, { submissionId, nodeId });
  await commitRunning(store, { submissionId, nodeId });
  for (let minute = 1; minute <= 5; minute += 1) {
    expect(await overdue(store)).toEqual([]);
    await advance(60_000 - 1);
    await recordUsage(store, { submissionId, nodeId, usage: usage({ actions: '1' }) });
  }
  await advance(1_000);
  expect(await overdue(store)).toEqual([{ submissionId, kind: 'run_limit', nodeId }]);
  const limit = { submissionId, code: 'deadline_exceeded' } as const;
  expect(await storeServiceFailure(store, limit)).toEqual({ kind: 'stored', nodeId });
});

function losingAnAnswer(store: Store): Store {
  let isLost = false;
  const query: Store['query'] = async (text, values) => {
    const rows = await store.query<never>(text, values);
    const [ids] = values;
    if (isLost || !Array.isArray(ids) || ids.length < 2) return rows;
    isLost = true;
    throw new Error('Connection terminated unexpectedly');
  };
  return { ...store, query };
}

function acceptOf(offerId: string, nodeId: string): OfferRecord[] {
  const at = '2026-01-01T00:00:00.000Z';
  return [{ offerId, nodeId, answer: 'accepted', offeredAt: at, answeredAt: at }];
}

test('accepts whose statement was committed and whose answer was lost are recognised', async () => {
  const { store, tenant, hold, node } = await createFixture();
  const tenantId = await tenant();
  const [one, other] = [await node(), await node()];
  const [a, b] = [await hold(tenantId), await hold(tenantId)];
  const losing = losingAnAnswer(store);
  const accepts = [
    { submissionId: a.id, nodeId: one, offers: acceptOf('ofr_1', one) },
    // The batch also has two more accepts of the first submission: one by the same node for another
    // offer, and one by another node.
    { submissionId: a.id, nodeId: one, offers: acceptOf('ofr_2', one) },
    { submissionId: a.id, nodeId: other, offers: acceptOf('ofr_3', other) },
    { submissionId: b.id, nodeId: other, offers: acceptOf('ofr_4', other) },
  ];
  const commits = await Promise.all(accepts.map((accept) => commitDispatched(losing, accept)));
  const won = {
    kind: 'dispatched',
    payloadText: expect.any(String),
    requestId: 'req-1',
    receipt: expect.any(String),
  };
  const lost = { kind: 'not_pending' };
  expect(commits).toEqual([won, lost, lost, won]);
  for (const accept of accepts) expect(await commitDispatched(losing, { ...accept })).toEqual(lost);
});

test('an accept whose answer was lost does not get a submission that was cancelled meanwhile', async () => {
  const { store, tenant, hold, node } = await createFixture();
  const tenantId = await tenant();
  const [a, b] = [await hold(tenantId), await hold(tenantId)];
  const nodeId = await node();
  const losing = losingAnAnswer(store);
  const accepts = [a, b].map(({ id }, index) => {
    return { submissionId: id, nodeId, offers: acceptOf(`ofr_${index}`, nodeId) };
  });
  const cancelling: Store = {
    ...losing,
    async query(text, values) {
      try {
        return await losing.query(text, values);
      } catch (error) {
        await cancelSubmission(store, { submissionId: a.id, tenantId, by: 'tenant' });
        throw error;
      }
    },
  };
  const commits = await Promise.all(accepts.map((accept) => commitDispatched(cancelling, accept)));
  expect(commits.map(({ kind }) => kind)).toEqual(['not_pending', 'dispatched']);
});

test('a dispatch stores its offers, and a later update keeps the accept', async () => {
  const { store, tenant, hold, node, database } = await createFixture();
  const { id: submissionId } = await hold(await tenant());
  const nodeId = await node();
  const at = '2026-01-01T00:00:00.000Z';
  const record = (offerId: string, answer: OfferAnswer): OfferRecord => {
    return { offerId, nodeId, answer, offeredAt: at, answeredAt: at };
  };
  const offers = async () => {
    const [row] = await database.query<{ offers: StoredOffer[] | null }>(
      'SELECT offer_records::jsonb AS offers FROM submissions WHERE id = $1',
      [submissionId],
    );
    return row?.offers ? offersOfStored(row.offers) : null;
  };
  expect(await offers()).toBeNull();
  const accepted = record('ofr_1', 'accepted');
  await commitDispatched(store, { submissionId, nodeId, offers: [accepted] });
  expect(await offers()).toEqual([accepted]);
  const other = record('ofr_2', 'revoked');
  await recordOffers(store, submissionId, [other, record('ofr_1', 'revoked')]);
  expect(await offers()).toEqual([other, accepted]);
  const ofOtherDispatcher = record('ofr_3', 'revoked');
  await recordOffers(store, submissionId, [ofOtherDispatcher]);
  expect(await offers()).toEqual([ofOtherDispatcher, accepted]);
});

test('a record of offers from an earlier build does not change, and a trace shows it', async () => {
  const { store, tenant, hold, node, database } = await createFixture();
  const { id: submissionId } = await hold(await tenant());
  const nodeId = await node();
  const at = '2026-01-01T00:00:00.000Z';
  const accepted = {
    offerId: 'ofr_1',
    nodeId,
    answer: 'accepted',
    offeredAt: at,
    answeredAt: at,
  } as const;
  await commitDispatched(store, { submissionId, nodeId });
  await database.query('UPDATE submissions SET offers = $2 WHERE id = $1', [
    submissionId,
    JSON.stringify([accepted]),
  ]);
  await recordOffers(store, submissionId, [{ ...accepted, answer: 'revoked' }]);
  expect((await readTrace(store, submissionId))?.offers).toEqual([accepted]);
});

test('a trace shows the offers as they were recorded, with the reason of a decline', async () => {
  const { store, tenant, hold, node } = await createFixture();
  const { id: submissionId } = await hold(await tenant());
  const nodeId = await node();
  const times = { offeredAt: '2026-01-01T00:00:00.123Z', answeredAt: '2026-01-01T00:00:01.000Z' };
  const offers: OfferRecord[] = [
    { offerId: 'ofr_1', nodeId, answer: 'declined', reason: 'accepted', ...times },
    { offerId: 'ofr_2', nodeId, answer: 'accepted', ...times },
  ];
  await commitDispatched(store, { submissionId, nodeId, offers });
  expect((await readTrace(store, submissionId))?.offers).toEqual(offers);
});
