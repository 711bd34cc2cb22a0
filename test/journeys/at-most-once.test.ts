import { waitUntil } from '@svc/testkit';
import { expect, test } from 'vitest';
import {
  application,
  connectNode,
  eventOf,
  expectMoney,
  type Journey,
  refusal,
  shareStack,
  startJourney,
} from '../support/journey.ts';

const onSharedStack = shareStack();
/** A second stack, for tests that advance the clock. */
const onAdvancedClock = shareStack();

/** Connects a node and gives it a new submission. Resolves when the node may act. */
async function begun(journey: Journey, key = 'key') {
  const node = await connectNode(journey);
  const creation = journey.client.submit(application(key));
  const offer = await node.next('offer');
  node.send({ type: 'accept', offerId: offer.offerId });
  await node.next('assign');
  const { submissionId } = await creation;
  node.send({ type: 'start', submissionId });
  await node.next('begin');
  return { node, submissionId };
}

test('the offer holds no personal data, the assignment holds the payload as it was sent', async () => {
  const journey = await onSharedStack();
  const { client } = journey;
  const node = await connectNode(journey);
  const creation = client.submit(application('payload'));
  const offer = await node.next('offer');
  expect(offer).toMatchObject({
    jobType: 'ats.application',
    tier: 'standard',
    targetHost: 'jobs.example.com',
    maxNodeSeconds: 1_800,
  });
  expect(JSON.stringify(node.texts)).not.toContain('Ana');
  node.send({ type: 'accept', offerId: offer.offerId });
  const assign = await node.next('assign');
  expect(assign.payload).toEqual(application('payload').payload);
  expect(assign.submissionId).toBe((await creation).submissionId);
});

test('a node that declines is asked once, and the next one gets the offer', async () => {
  const journey = await onSharedStack();
  const { client } = journey;
  const [first, second] = [await connectNode(journey, { slots: 2 }), await connectNode(journey)];
  const creation = client.submit(application('chain'));
  const declined = await first.next('offer');
  first.send({ type: 'decline', offerId: declined.offerId, reason: 'busy' });
  const offer = await second.next('offer');
  expect(offer.submissionId).toBe(declined.submissionId);
  second.send({ type: 'accept', offerId: offer.offerId });
  await second.next('assign');
  expect((await creation).status).toBe('dispatched');
  expect(first.frames.filter(({ type }) => type === 'offer')).toHaveLength(1);
});

test('a silent node delays the tenant by 300 ms, not 2 s; its late accept is revoked', async () => {
  const journey = await onSharedStack();
  const { client } = journey;
  const [silent, second] = [await connectNode(journey, { slots: 2 }), await connectNode(journey)];
  const startedMs = performance.now();
  const creation = client.submit(application('silent'));
  const ignored = await silent.next('offer');
  const offer = await second.next('offer');
  second.send({ type: 'accept', offerId: offer.offerId });
  await creation;
  expect(performance.now() - startedMs).toBeLessThan(1_900);
  silent.send({ type: 'accept', offerId: ignored.offerId });
  expect(await silent.next('revoke')).toMatchObject({ offerId: ignored.offerId });
  expect(silent.frames.some(({ type }) => type === 'assign')).toBe(false);
});

test('if no node ever answers, the creation gets 503 by the deadline and the hold is released', async () => {
  const journey = await onSharedStack();
  await connectNode(journey);
  const error = await refusal(journey.client.submit(application('deaf')));
  expect(error).toMatchObject({ status: 503, code: 'dispatch_unavailable' });
  await expectMoney(journey, { balance: 5_000, held: 0 });
});

test('a job taken by one dispatcher is offered through another', async () => {
  const journey = await startJourney({ dispatchers: 2 });
  const { stack, client } = journey;
  const node = await connectNode(journey, { dispatcher: 1, slots: 4 });
  for (const key of ['a', 'b', 'c', 'd']) {
    const creation = client.submit(application(key));
    const offer = await node.next('offer');
    node.send({ type: 'accept', offerId: offer.offerId });
    await node.next('assign');
    await creation;
  }
  expect(await stack.query('SELECT DISTINCT node_id FROM submissions')).toHaveLength(1);
});

test('begin is repeated to the same node; an outcome is stored once and repeats are acknowledged', async () => {
  const journey = await onSharedStack();
  const { node, submissionId } = await begun(journey);
  node.send({ type: 'start', submissionId });
  await node.next('begin');
  const outcome = {
    type: 'completed',
    submissionId,
    usage: { nodeSeconds: 0.001, actions: 4 },
    result: { confirmationId: 'C-7' },
  } as const;
  node.send(outcome);
  await node.next('ack');
  node.send(outcome);
  node.send({ ...outcome, usage: { actions: 4_000 } });
  await node.next('ack');
  await node.next('ack');
  const ended = await journey.client.waitFor(submissionId, { timeoutMs: 10_000 });
  expect(ended).toMatchObject({
    status: 'submitted',
    result: { confirmationId: 'C-7' },
    usage: { nodeSeconds: 0.001, actions: 4 },
    actualCredits: 22.0005,
    lateOutcome: null,
  });
  await expectMoney(journey, { balance: 4_977.9995, held: 0 });
});

test('completed before begin is a bad frame and not acknowledged', async () => {
  const journey = await onSharedStack();
  const node = await connectNode(journey);
  const creation = journey.client.submit(application('eager'));
  const offer = await node.next('offer');
  node.send({ type: 'accept', offerId: offer.offerId });
  await node.next('assign');
  const { submissionId } = await creation;
  node.send({ type: 'completed', submissionId, usage: {}, result: {} });
  await node.next('error');
  expect(node.frames.some(({ type }) => type === 'ack')).toBe(false);
  expect((await journey.client.getSubmission(submissionId)).status).toBe('dispatched');
});

test('a node that reconnects without its run has lost it at once', async () => {
  const journey = await onSharedStack();
  const { node, submissionId } = await begun(journey);
  await node.cut();
  await node.reconnect();
  const ended = await journey.client.waitFor(submissionId, { timeoutMs: 10_000 });
  expect(ended).toMatchObject({
    status: 'failed',
    actualCredits: 0,
    failure: { code: 'node_lost', outcomeUnknown: true, retriable: false },
  });
  await expectMoney(journey, { balance: 5_000, held: 0 });
});

test('a node that reconnects with its run continues it, and its outcome counts', async () => {
  const journey = await onSharedStack();
  const { node, submissionId } = await begun(journey);
  await node.cut();
  const again = await node.reconnect([submissionId]);
  expect(again.welcome.stop).toEqual([]);
  again.send({ type: 'completed', submissionId, usage: {}, result: {} });
  await again.next('ack');
  const ended = await journey.client.waitFor(submissionId, { timeoutMs: 10_000 });
  expect(ended).toMatchObject({ status: 'submitted', actualCredits: 20 });
});

test('a lease that runs out ends the submission; the late outcome is stored and moves no credits', async () => {
  const journey = await onAdvancedClock();
  const { client, stack } = journey;
  const { node, submissionId } = await begun(journey);
  await stack.advanceClock(61_000);
  const ended = await client.waitFor(submissionId, { timeoutMs: 10_000 });
  expect(ended).toMatchObject({ status: 'failed', failure: { code: 'node_lost' } });
  await node.next('cancel');
  node.send({ type: 'completed', submissionId, usage: {}, result: {} });
  await node.next('ack');
  const webhook = await eventOf(journey, submissionId, 'submission.late_outcome');
  expect(webhook.event.data).toMatchObject({ status: 'submitted' });
  const late = await client.getSubmission(submissionId);
  expect(late).toMatchObject({ status: 'failed', actualCredits: 0 });
  expect(late.lateOutcome).toMatchObject({ status: 'submitted' });
  await expectMoney(journey, { balance: 5_000, held: 0 });
});

test('a run that never begins and a run over its limit both end with a full refund', async () => {
  const journey = await onAdvancedClock();
  const { client, stack } = journey;
  const idle = await connectNode(journey);
  const creation = client.submit(application('idle'));
  const offer = await idle.next('offer');
  idle.send({ type: 'accept', offerId: offer.offerId });
  const { submissionId } = await creation;
  await stack.advanceClock(60_001);
  const notStarted = await client.waitFor(submissionId, { timeoutMs: 10_000 });
  expect(notStarted.failure).toMatchObject({ code: 'not_started', retriable: true });
  await idle.close();
  const { node, submissionId: longId } = await begun(journey, 'long');
  for (let minutes = 0; minutes < 31; minutes += 1) {
    const report = { type: 'usage', submissionId: longId, usage: { actions: minutes } } as const;
    node.send(report);
    const status = await waitUntil(async () => {
      const record = await client.getSubmission(longId);
      return record.status === 'failed' || record.usage?.actions === minutes ? record.status : null;
    });
    if (status === 'failed') break;
    await stack.advanceClock(59_000);
  }
  const tooLong = await client.waitFor(longId, { timeoutMs: 10_000 });
  expect(tooLong.failure).toMatchObject({ code: 'deadline_exceeded', outcomeUnknown: true });
  await expectMoney(journey, { balance: 5_000, held: 0 });
});

test('a creation that is cancelled while it waits answers `cancelled`, and its offer is revoked', async () => {
  const journey = await onSharedStack();
  const { client } = journey;
  const node = await connectNode(journey);
  const creation = refusal(client.submit(application('waiting')));
  const offer = await node.next('offer');
  await client.cancel(offer.submissionId);
  expect(await creation).toMatchObject({ status: 409, code: 'terminal_state' });
  await node.next('revoke');
  node.send({ type: 'accept', offerId: offer.offerId });
  const replay = await refusal(client.submit(application('waiting')));
  expect(replay.problem).toMatchObject({ code: 'terminal_state', submissionStatus: 'cancelled' });
  expect(node.frames.some(({ type }) => type === 'assign')).toBe(false);
  await expectMoney(journey, { balance: 5_000, held: 0 });
});
