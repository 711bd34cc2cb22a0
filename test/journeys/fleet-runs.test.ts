import type { Tier } from '@svc/domain';
import { waitUntil } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditMoney } from '../support/audit.ts';
import { type Fleet, type FleetNode, startFleet } from '../support/fleet.ts';
import { application, eventOf, type Journey } from '../support/journey.ts';

/**
 * Tests of runs that are cancelled or take too long, or whose node or link fails (CONTRACT 7,
 * "Nothing hangs"). The tests advance the clock that leases and limits follow.
 */
let fleet: Fleet;

beforeAll(async () => {
  fleet = await startFleet();
});

afterAll(() => fleet.close());

/**
 * Creates a submission and accepts its offer on the node. Returns its id when the node has the
 * payload and the tenant has the answer to the creation.
 */
async function assigned(journey: Journey, node: FleetNode, key: string, tier: Tier = 'instant') {
  const creation = journey.client.submit(application(key, 'model', tier));
  const offer = await node.next('offer');
  node.send({ type: 'accept', offerId: offer.offerId });
  await node.next('assign');
  return (await creation).submissionId;
}

/** Assigns a new submission. Returns its id when the node has received `begin`. */
async function begun(journey: Journey, node: FleetNode, key: string, tier?: Tier) {
  const submissionId = await assigned(journey, node, key, tier);
  node.send({ type: 'start', submissionId });
  await node.next('begin');
  return submissionId;
}

/** Reports usage for the submission. Resolves when the usage and the renewed lease are stored. */
async function expectRenewed(
  { client }: Journey,
  node: FleetNode,
  submissionId: string,
  actions: number,
): Promise<void> {
  node.send({ type: 'usage', submissionId, usage: { actions } });
  const status = await waitUntil(async () => {
    const record = await client.getSubmission(submissionId);
    return record.status !== 'running' || record.usage?.actions === actions ? record.status : null;
  });
  expect(status).toBe('running');
}

async function expectExceeded(
  journey: Journey,
  node: FleetNode,
  submissionId: string,
): Promise<void> {
  const { failure } = await endOf(journey, submissionId);
  expect(failure).toMatchObject({ code: 'deadline_exceeded', outcomeUnknown: true });
  await node.next('cancel', { where: (frame) => frame.submissionId === submissionId });
}

async function endOf({ client }: Journey, submissionId: string) {
  return await client.waitFor(submissionId, { timeoutMs: 15_000 });
}

test('a node_error is retriable in record and event if the node proves that it sent nothing', async () => {
  const journey = await fleet.journey();
  const node = await fleet.node({ slots: 2 });
  const unknown = await begun(journey, node, 'unknown');
  const unsent = await begun(journey, node, 'unsent');
  const failure = { code: 'node_error', message: 'the browser died' } as const;
  node.send({ type: 'failed', submissionId: unknown, usage: {}, failure });
  const proven = { ...failure, submitted: false };
  node.send({ type: 'failed', submissionId: unsent, usage: {}, failure: proven });
  const expected = { ...failure, retriable: true, outcomeUnknown: false };
  expect((await endOf(journey, unsent)).failure).toEqual(expected);
  const { event } = await eventOf(journey, unsent, 'submission.failed');
  expect(event.data['failure']).toEqual(expected);
  expect((await endOf(journey, unknown)).failure).toEqual({
    ...failure,
    retriable: false,
    outcomeUnknown: true,
  });
});

test('only frames that name a run renew its lease: a node that stops naming one run loses that run', async () => {
  const journey = await fleet.journey();
  const node = await fleet.node({ slots: 2 });
  const kept = await begun(journey, node, 'kept');
  const lost = await begun(journey, node, 'lost');
  await fleet.stack.advanceClock(40_000);
  await expectRenewed(journey, node, kept, 1);
  await fleet.stack.advanceClock(20_001);
  const ended = await endOf(journey, lost);
  expect(ended.failure).toMatchObject({ code: 'node_lost', outcomeUnknown: true });
  expect(await node.next('cancel')).toEqual({ type: 'cancel', submissionId: lost });
  node.send({ type: 'completed', submissionId: kept, usage: {}, result: {} });
  await node.next('ack');
  expect(await endOf(journey, kept)).toMatchObject({ status: 'submitted' });
});

test('a node may begin up to 60 s after dispatch; a later one is ordered to stop', async () => {
  const journey = await fleet.journey();
  const node = await fleet.node({ slots: 2 });
  const inTime = await assigned(journey, node, 'in time');
  await fleet.stack.advanceClock(30_000);
  const late = await assigned(journey, node, 'late');
  await fleet.stack.advanceClock(29_000);
  node.send({ type: 'start', submissionId: inTime });
  await node.next('begin');
  await fleet.stack.advanceClock(31_001);
  const ended = await endOf(journey, late);
  expect(ended.failure).toMatchObject({ code: 'not_started', retriable: true });
  expect(ended).toMatchObject({ actualCredits: 0, startedAt: null });
  await node.next('cancel');
  node.send({ type: 'start', submissionId: late });
  expect(await node.next('cancel')).toEqual({ type: 'cancel', submissionId: late });
});

test('renewing the lease does not extend the run limit of the tier', async () => {
  const journey = await fleet.journey();
  const node = await fleet.node({ slots: 40 });
  const runs = new Map<Tier, string>();
  for (const tier of ['instant', 'priority', 'standard'] as const) {
    runs.set(tier, await begun(journey, node, tier, tier));
  }
  const limitsMinutes = { instant: 5, priority: 10, standard: 30 };
  const stepMinutes = 0.9;
  for (let step = 1; runs.size > 1; step += 1) {
    await fleet.stack.advanceClock(stepMinutes * 60_000);
    for (const [tier, submissionId] of runs) {
      const isOver = step * stepMinutes >= limitsMinutes[tier];
      if (isOver) runs.delete(tier);
      await (isOver
        ? expectExceeded(journey, node, submissionId)
        : expectRenewed(journey, node, submissionId, step));
    }
  }
  const standard = runs.get('standard') ?? '';
  expect(await journey.client.getSubmission(standard)).toMatchObject({ status: 'running' });
});

test('an assignment that has not begun continues at another dispatcher', async () => {
  const journey = await fleet.journey();
  const node = await fleet.node({ dispatcher: 0 });
  const submissionId = await assigned(journey, node, 'moved');
  await node.cut();
  const again = await node.again({ dispatcher: 1, running: [submissionId] });
  expect(again.welcome.stop).toEqual([]);
  again.send({ type: 'start', submissionId });
  await again.next('begin');
  again.send({ type: 'completed', submissionId, usage: {}, result: {} });
  await again.next('ack');
  expect(await endOf(journey, submissionId)).toMatchObject({ status: 'submitted' });
});

test('a newer link at another dispatcher ends the older one: its offer is made again, its run stays', async () => {
  const journey = await fleet.journey();
  const older = await fleet.node({ dispatcher: 0, slots: 4 });
  const submissionId = await begun(journey, older, 'stays');
  const creation = journey.client.submit(application('goes on', 'model', 'instant'));
  const { offerId } = await older.next('offer');
  const other = await fleet.node({ dispatcher: 1, slots: 2 });
  const newer = await older.again({ dispatcher: 1, running: [submissionId] });
  expect((await older.closed).code).toBe(4001);
  await other.runNext();
  expect((await creation).status).toBe('dispatched');
  newer.send({ type: 'accept', offerId });
  expect(await newer.next('revoke')).toEqual({ type: 'revoke', offerId });
  newer.send({ type: 'completed', submissionId, usage: {}, result: {} });
  await newer.next('ack');
  expect(await endOf(journey, submissionId)).toMatchObject({ status: 'submitted' });
});

test('submissions that ended while a node was away are in `stop`; the node reports them and its slot is free', async () => {
  const journey = await fleet.journey();
  const node = await fleet.node();
  const submissionId = await begun(journey, node, 'cancelled meanwhile');
  await node.cut();
  await journey.client.cancel(submissionId);
  const again = await node.again({ running: [submissionId] });
  expect(again.welcome.stop).toEqual([submissionId]);
  again.send({ type: 'stopped', submissionId, usage: { actions: 3 } });
  await again.next('ack');
  await begun(journey, again, 'in the same slot');
  const { status, usage } = await journey.client.getSubmission(submissionId);
  expect({ status, usage }).toMatchObject({ status: 'cancelled' });
  expect(usage?.actions ?? 0).toBe(0);
});

test('an outcome whose `ack` was lost is in `stop`, is still repeated, and counts once', async () => {
  const journey = await fleet.journey();
  const node = await fleet.node();
  const submissionId = await begun(journey, node, 'ack lost');
  const outcome = { type: 'completed', submissionId, usage: { actions: 2 }, result: {} } as const;
  node.send(outcome);
  await node.next('ack');
  await node.cut();
  const again = await node.again({ dispatcher: 1, running: [submissionId] });
  expect(again.welcome.stop).toEqual([submissionId]);
  again.send({ ...outcome, usage: { actions: 200 } });
  await again.next('ack');
  const ended = await endOf(journey, submissionId);
  expect(ended).toMatchObject({ status: 'submitted', usage: { actions: 2 }, lateOutcome: null });
  expect(await auditMoney(fleet.stack.query)).toEqual([]);
});

test('after a cancel the first outcome of the node is kept as late, the second is a repeat', async () => {
  const journey = await fleet.journey();
  const node = await fleet.node({ dispatcher: 1 });
  const submissionId = await begun(journey, node, 'cancelled too late');
  await fleet.stack.advanceClock(4_000);
  const { refund } = await journey.client.cancel(submissionId);
  await node.next('cancel');
  const failure = { code: 'ats_rejected', message: 'no' } as const;
  node.send({ type: 'failed', submissionId, usage: {}, failure });
  await node.next('ack');
  node.send({ type: 'completed', submissionId, usage: { actions: 9 }, result: {} });
  await node.next('ack');
  const webhook = await eventOf(journey, submissionId, 'submission.late_outcome');
  expect(webhook.event.data).toMatchObject({ submissionId, status: 'failed' });
  const record = await journey.client.getSubmission(submissionId);
  expect(record).toMatchObject({ status: 'cancelled', actualCredits: refund.charged });
  expect(record.lateOutcome).toMatchObject({ status: 'failed' });
  const late = await fleet.stack.query(
    `SELECT id FROM events WHERE type = 'submission.late_outcome' AND submission_id =
      (SELECT id FROM submissions WHERE idempotency_key = 'cancelled too late')`,
  );
  expect(late).toHaveLength(1);
  expect(await auditMoney(fleet.stack.query)).toEqual([]);
});

test('usage before begin is a bad frame and has no effect; usage of an ended submission is answered `cancel`', async () => {
  const journey = await fleet.journey();
  const node = await fleet.node();
  const submissionId = await assigned(journey, node, 'early usage');
  node.send({ type: 'usage', submissionId, usage: { actions: 100 } });
  expect(await node.next('error')).toMatchObject({ code: 'unexpected_frame' });
  expect(await journey.client.cancel(submissionId)).toMatchObject({ refund: { charged: 0 } });
  await node.next('cancel');
  node.send({ type: 'usage', submissionId, usage: { actions: 100 } });
  expect(await node.next('cancel')).toEqual({ type: 'cancel', submissionId });
});
