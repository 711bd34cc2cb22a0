import { fromWireId, leaseMs, linkSilentMs, stoppedDeadlineMs } from '@svc/domain';
import { cancelAsOperator } from '@svc/store';
import { testAuthor, waitUntil, type ScriptedNode } from '@svc/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { payloadText, startDispatching, toldOf, type Dispatching } from './test-fixture.ts';

let service: Dispatching;

beforeAll(async () => {
  service = await startDispatching({ dispatchers: 2 });
});

afterAll(async () => {
  await service.end();
});

afterEach(async () => {
  await service.settled();
});

async function stateOf(id: string): Promise<string | undefined> {
  return (await service.row(id))?.state;
}

async function expectState(id: string, state: string): Promise<void> {
  await waitUntil(async () => (await stateOf(id)) === state, { what: `the state ${state}` });
}

describe('the life of a submission', () => {
  test('is offered without personal data, committed, assigned untouched, begun, metered, stored and acknowledged', async () => {
    const node = await service.connect();
    const { id, wireId, replied } = await service.post();
    const offer = await node.next('offer');
    expect(offer).toEqual({
      type: 'offer',
      offerId: offer.offerId,
      submissionId: wireId,
      jobType: 'ats.application',
      tier: 'instant',
      targetHost: 'jobs.example.com',
      maxNodeSeconds: 300,
      expiresInMs: 2_000,
      requestId: `req-${id}`,
    });
    expect(await stateOf(id)).toBe('pending');
    node.send({ type: 'accept', offerId: offer.offerId });
    await node.next('assign');
    expect(await stateOf(id)).toBe('dispatched');
    expect(await replied).toBe('dispatched');
    expect(node.texts.at(-1)).toContain(`"payload":${payloadText}`);
    node.send({ type: 'start', submissionId: wireId });
    await node.next('begin');
    expect(await stateOf(id)).toBe('running');
    node.send({ type: 'start', submissionId: wireId });
    await node.next('begin');
    node.send({ type: 'usage', submissionId: wireId, usage: { actions: 2 } });
    const usage = { actions: 3.5 };
    const result = { confirmationId: 'A-1' };
    node.send({ type: 'completed', submissionId: wireId, usage, result });
    expect(await node.next('ack')).toEqual({ type: 'ack', submissionId: wireId });
    expect(await service.row(id)).toMatchObject({ state: 'settling', actions: 3.5 });
    node.send({ type: 'completed', submissionId: wireId, usage, result });
    await node.next('ack');
    await waitUntil(async () => (await service.queued('settlement.v1')) === 1);
    await node.close();
  });

  test('ends as failed by its node, before begin too; completed before it is a bad frame', async () => {
    const node = await service.connect();
    const { id } = await service.post();
    const { offerId, submissionId } = await node.next('offer');
    node.send({ type: 'accept', offerId });
    await node.next('assign');
    node.send({ type: 'completed', submissionId, usage: {}, result: {} });
    expect(await node.next('error')).toMatchObject({ code: 'unexpected_frame' });
    const failure = { code: 'node_error', message: 'no browser' } as const;
    node.send({ type: 'failed', submissionId, usage: {}, failure });
    await node.next('ack');
    expect(await service.row(id)).toMatchObject({ state: 'settling', failure_code: 'node_error' });
    await node.close();
  });

  test('goes through another dispatcher than the one that took its job', async () => {
    const nodes = await Promise.all([
      service.connect({ dispatcher: 0 }),
      service.connect({ dispatcher: 1 }),
    ]);
    // They keep their one slot each, so that one node cannot have both.
    for (const node of nodes) node.autoPilot({ outcome: () => undefined });
    const posted = await Promise.all([service.post(), service.post()]);
    for (const { id } of posted) await expectState(id, 'running');
    // Told after the commit, which can be seen before it.
    for (const node of nodes)
      await waitUntil(() => toldOf(node).includes('begin'), { what: 'each node told to begin' });
    await Promise.all(nodes.map((node) => node.close()));
  });
});

describe('offering', () => {
  test('is over at once where no slot is free, and the hold is back', async () => {
    const { id, replied } = await service.post();
    expect(await replied).toBe('look');
    expect(await stateOf(id)).toBe('rejected');
  });

  test('goes from node to node until all have declined', async () => {
    const nodes = await Promise.all([0, 1, 0].map((dispatcher) => service.connect({ dispatcher })));
    for (const node of nodes) node.autoPilot({ answer: () => 'decline' });
    const { id, replied } = await service.post();
    expect(await replied).toBe('look');
    expect(await stateOf(id)).toBe('rejected');
    for (const node of nodes) expect(toldOf(node)).toEqual(['welcome', 'offer']);
    await Promise.all(nodes.map((node) => node.close()));
  });

  test('asks a second node when the first is silent, and revokes the one that was not needed', async () => {
    const silent = await service.connect({ slots: 9, dispatcher: 1 });
    const awake = await service.connect({ slots: 2 });
    const { id, replied } = await service.post();
    const { offerId } = await silent.next('offer');
    const { submissionId } = await awake.next('offer');
    expect(toldOf(silent)).not.toContain('revoke');
    awake.send({ type: 'accept', offerId: (await offerOf(awake)).offerId });
    expect((await awake.next('assign')).submissionId).toBe(submissionId);
    expect(await silent.next('revoke')).toEqual({ type: 'revoke', offerId });
    expect(await replied).toBe('dispatched');
    silent.send({ type: 'accept', offerId });
    expect(await silent.next('revoke')).toEqual({ type: 'revoke', offerId });
    expect((await service.row(id))?.node_id).toBe(fromWireId('nod', awake.nodeId));
    await Promise.all([silent.close(), awake.close()]);
  });

  test('asks a node that left an offer unanswered after all others, until it takes one', async () => {
    const silent = await service.connect({ slots: 9, dispatcher: 1 });
    const awake = await service.connect({ slots: 2 });
    awake.autoPilot({ outcome: () => undefined });
    const first = await service.post();
    const { offerId } = await silent.next('offer');
    await silent.next('revoke');
    expect(await first.replied).toBe('dispatched');
    const second = await service.post();
    expect(await second.replied).toBe('dispatched');
    expect((await service.row(second.id))?.node_id).toBe(fromWireId('nod', awake.nodeId));
    expect(silent.frames.filter(({ type }) => type === 'offer')).toHaveLength(1);
    expect((await service.offers(first.id)).map((one) => one.offerId)).toContain(offerId);
    await Promise.all([silent.close(), awake.close()]);
  });

  test('of two accepts gives the submission to one, and tells the other that it is void', async () => {
    const nodes = [await service.connect(), await service.connect({ dispatcher: 1 })];
    const { id } = await service.post();
    const offers = await Promise.all(nodes.map((node) => node.next('offer')));
    nodes.forEach((node, index) =>
      node.send({ type: 'accept', offerId: offers[index]?.offerId ?? '' }),
    );
    const answers = await Promise.all(
      nodes.map((node) =>
        waitUntil(() => toldOf(node).find((type) => type === 'assign' || type === 'revoke')),
      ),
    );
    expect(answers.toSorted()).toEqual(['assign', 'revoke']);
    expect(await stateOf(id)).toBe('dispatched');
    await Promise.all(nodes.map((node) => node.close()));
  });

  test('revokes an offer that nobody answers after 2 s, and does not ask that node again', async () => {
    const node = await service.connect();
    const { id, replied } = await service.post();
    const { offerId } = await node.next('offer');
    expect(await node.next('revoke')).toEqual({ type: 'revoke', offerId });
    expect(await replied).toBe('look');
    expect(await stateOf(id)).toBe('rejected');
    expect(toldOf(node)).toEqual(['welcome', 'offer', 'revoke']);
    await node.close();
  });

  test('goes on with the next node when a link breaks', async () => {
    const first = await service.connect({ slots: 9 });
    const second = await service.connect({ dispatcher: 1 });
    const { id } = await service.post();
    await first.next('offer');
    await first.cut();
    await second.runNext();
    // Made because the first was over, not because it was 300 ms old.
    const [broken, accepted] = await service.offers(id);
    expect(broken).toMatchObject({ nodeId: first.nodeId, answer: 'disconnected' });
    expect(accepted?.offeredAt.localeCompare(broken?.answeredAt ?? '')).toBeGreaterThanOrEqual(0);
    await second.close();
  });

  test('never dispatches what is past its deadline', async () => {
    const node = await service.connect();
    const { id } = await service.post();
    const { offerId } = await node.next('offer');
    await service.advance(5_000);
    node.send({ type: 'accept', offerId });
    expect(await node.next('revoke')).toEqual({ type: 'revoke', offerId });
    expect(await stateOf(id)).toBe('pending');
    await node.close();
  });

  test('survives the loss of Redis: the links are entered again', async () => {
    const nodes = [await service.connect(), await service.connect({ dispatcher: 1 })];
    await service.flush();
    for (const node of nodes) node.autoPilot();
    const posted = await Promise.all([service.post(), service.post()]);
    for (const { id } of posted) await expectState(id, 'settling');
    await Promise.all(nodes.map((node) => node.close()));
  });

  test('tells simulated nodes of a sandbox behaviour, and nothing else of the payload', async () => {
    const node = await service.connect();
    await service.post({ payloadText: payloadText.replace('greenhouse', 'sandbox.decline') });
    expect((await node.next('offer')).sandboxBehaviour).toBe('sandbox.decline');
    await node.close();
  });
});

describe('what became of its offers', () => {
  test('is kept with what is dispatched: who declined and why, and who has it', async () => {
    const declining = await service.connect({ slots: 9, dispatcher: 1 });
    const accepting = await service.connect({ slots: 2 });
    const { id } = await service.post();
    const declined = await declining.next('offer');
    declining.send({ type: 'decline', offerId: declined.offerId, reason: 'busy' });
    const { offerId } = await accepting.next('offer');
    accepting.send({ type: 'accept', offerId });
    await accepting.next('assign');
    const [first, second, ...rest] = await service.offers(id);
    expect(rest).toEqual([]);
    const of = { nodeId: declining.nodeId, offerId: declined.offerId };
    expect(first).toMatchObject({ ...of, answer: 'declined', reason: 'busy' });
    expect(second).toMatchObject({ nodeId: accepting.nodeId, offerId, answer: 'accepted' });
    const times = [first, second].flatMap((one) => [one?.offeredAt ?? '', one?.answeredAt ?? '']);
    expect(times.toSorted()).toEqual(times);
    await Promise.all([declining.close(), accepting.close()]);
  });

  test('names an offer beside the accepted one as revoked', async () => {
    const silent = await service.connect({ slots: 9, dispatcher: 1 });
    const awake = await service.connect({ slots: 2 });
    const { id } = await service.post();
    await silent.next('offer');
    const { offerId } = await awake.next('offer');
    awake.send({ type: 'accept', offerId });
    await waitUntil(async () => (await service.offers(id)).length === 2);
    expect(await service.offers(id)).toMatchObject([
      { nodeId: awake.nodeId, answer: 'accepted' },
      { nodeId: silent.nodeId, answer: 'revoked' },
    ]);
    await Promise.all([silent.close(), awake.close()]);
  });

  test('is kept with what was rejected or cancelled, too', async () => {
    const leaving = await service.connect({ slots: 9 });
    const silent = await service.connect({ dispatcher: 1 });
    const rejected = await service.post();
    await leaving.next('offer');
    await leaving.cut();
    await rejected.replied;
    expect(await service.offers(rejected.id)).toMatchObject([
      { nodeId: leaving.nodeId, answer: 'disconnected' },
      { nodeId: silent.nodeId, answer: 'expired' },
    ]);
    const other = await service.connect();
    const cancelled = await service.post();
    await other.next('offer');
    await service.cancelled(cancelled.id);
    await cancelled.replied;
    await waitUntil(async () => (await service.offers(cancelled.id)).length > 0);
    expect(await service.offers(cancelled.id)).toMatchObject([
      { nodeId: other.nodeId, answer: 'revoked' },
    ]);
    await Promise.all([silent.close(), other.close()]);
  });
});

async function offerOf(node: Awaited<ReturnType<Dispatching['connect']>>) {
  const offer = node.frames.find((frame) => frame.type === 'offer');
  if (offer?.type !== 'offer') throw new Error('no offer came');
  return offer;
}

describe('a run that ends otherwise', () => {
  test('is cancelled at its node, whose slot is free when it has stopped', async () => {
    const node = await service.connect({ dispatcher: 1 });
    const { id } = await service.post();
    const submissionId = await node.runNext();
    await service.cancelled(id);
    expect(await node.next('cancel')).toEqual({ type: 'cancel', submissionId });
    const refused = await service.post();
    await refused.replied;
    expect(await stateOf(refused.id)).toBe('rejected');
    node.send({ type: 'stopped', submissionId, usage: {} });
    await node.next('ack');
    await service.post();
    await node.next('offer');
    await node.close();
  });

  test('is cancelled at the node that has it, where another of the same dispatcher accepted it too', async () => {
    const nodes = [await service.connect(), await service.connect()];
    const { id, wireId } = await service.post();
    const offers = await Promise.all(nodes.map((node) => node.next('offer')));
    nodes.forEach((node, index) =>
      node.send({ type: 'accept', offerId: offers[index]?.offerId ?? '' }),
    );
    const isTold = (type: string) => () => nodes.find((node) => toldOf(node).includes(type));
    const winner = await waitUntil(isTold('assign'));
    const loser = await waitUntil(isTold('revoke'));
    await service.cancelled(id);
    expect(await winner.next('cancel')).toEqual({ type: 'cancel', submissionId: wireId });
    expect(toldOf(loser)).not.toContain('cancel');
    winner.send({ type: 'stopped', submissionId: wireId, usage: {} });
    await winner.next('ack');
    await Promise.all(nodes.map((node) => node.close()));
  });

  test('is answered cancel where its node goes on with it', async () => {
    const node = await service.connect();
    await service.post();
    const submissionId = await node.runNext();
    const stranger = await service.connect();
    stranger.send({ type: 'start', submissionId });
    expect(await stranger.next('cancel')).toEqual({ type: 'cancel', submissionId });
    stranger.send({ type: 'usage', submissionId: 'sub_nonsense', usage: {} });
    expect(await stranger.next('cancel')).toMatchObject({ submissionId: 'sub_nonsense' });
    stranger.send({ type: 'completed', submissionId, usage: {}, result: {} });
    expect(await stranger.next('ack')).toEqual({ type: 'ack', submissionId });
    await Promise.all([node.close(), stranger.close()]);
  });

  test('is not offered on while it is cancelled, and its gateway is told', async () => {
    const node = await service.connect({ slots: 3 });
    const { id, replied } = await service.post();
    const { offerId } = await node.next('offer');
    await service.cancelled(id);
    expect(await replied).toBe('look');
    expect(await node.next('revoke')).toEqual({ type: 'revoke', offerId });
    await node.close();
  });
});

/** Moves the dispatchers' time on, in steps in which a node that says something is not silent. */
async function pass(node: ScriptedNode, ms: number): Promise<void> {
  const stepMs = linkSilentMs / 3;
  for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
    service.clock.advance(Math.min(leftMs, stepMs));
    node.send({ type: 'usage', submissionId: 'sub_x', usage: {} });
    await node.next('cancel', { where: ({ submissionId }) => submissionId === 'sub_x' });
  }
}

describe('a run that has ended and of which its node says nothing', () => {
  test('is cancelled there though the message about it was lost', async () => {
    const node = await service.connect();
    const { id } = await service.post();
    const submissionId = await node.runNext();
    await cancelAsOperator(service.store, id, testAuthor);
    await pass(node, leaseMs);
    const isItself = (frame: { submissionId: string }) => frame.submissionId === submissionId;
    const cancel = await node.next('cancel', { where: isItself, timeoutMs: 15_000 });
    expect(cancel).toEqual({ type: 'cancel', submissionId });
    node.send({ type: 'stopped', submissionId, usage: {} });
    await node.next('ack');
    await node.close();
  }, 30_000);
});

describe('a node that was told to stop and does not say that it has', () => {
  test('has its slot back after 30 s', async () => {
    const node = await service.connect();
    const { id } = await service.post();
    await node.runNext();
    await service.cancelled(id);
    await node.next('cancel');
    await pass(node, stoppedDeadlineMs - 1_000);
    const early = await service.post();
    await early.replied;
    expect(await stateOf(early.id)).toBe('rejected');
    await pass(node, 1_000);
    await service.post();
    await node.next('offer');
    await node.close();
  });
});

describe('hello', () => {
  test('without what the node was given loses that at once; with it the run goes on', async () => {
    const credentials = await service.newNode();
    const node = await service.connect({ ...credentials, slots: 2 });
    const lost = await service.post();
    await node.runNext();
    const kept = await service.post();
    const keptId = await node.runNext();
    await node.cut();
    const again = await service.connect({
      ...credentials,
      dispatcher: 1,
      slots: 2,
      running: [keptId, 'sub_00000000000000000000000000'],
    });
    expect(again.welcome.stop).toEqual(['sub_00000000000000000000000000']);
    expect(await service.row(lost.id)).toMatchObject({
      state: 'settling',
      failure_code: 'node_lost',
    });
    again.send({ type: 'usage', submissionId: keptId, usage: { actions: 1 } });
    again.send({ type: 'completed', submissionId: keptId, usage: {}, result: {} });
    await again.next('ack');
    expect((await service.row(kept.id))?.state).toBe('settling');
    await again.close();
  });

  test.each([0, 1])('of a newer link closes the older one, at dispatcher %i too', async (other) => {
    const credentials = await service.newNode();
    const older = await service.connect({ ...credentials, dispatcher: 0 });
    const newer = await service.connect({ ...credentials, dispatcher: other });
    expect((await older.closed).code).toBe(4001);
    await service.post();
    await newer.next('offer');
    await newer.close();
  });
});

describe('drain', () => {
  test('of a node: no more offers, and what runs is finished', async () => {
    const node = await service.connect({ slots: 5 });
    const { id } = await service.post();
    const submissionId = await node.runNext();
    node.send({ type: 'drain' });
    await waitUntil(async () => {
      const { id: next, replied } = await service.post();
      await replied;
      return (await stateOf(next)) === 'rejected';
    });
    node.send({ type: 'completed', submissionId, usage: {}, result: {} });
    await node.next('ack');
    expect(await stateOf(id)).toBe('settling');
    await node.close();
  });
});
