import { randomUUID } from 'node:crypto';
import { fromWireId } from '@svc/domain';
import { createFleetRegistry } from '@svc/queue';
import { rejectPending } from '@svc/store';
import { waitUntil } from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { useDispatching, frameTypesOf, type Dispatching, uuidOf } from '../dispatcher.fixture.ts';
import { payloadText } from '../post.fixture.ts';

const service = await useDispatching({ dispatchers: 2 });

describe('offering', () => {
  test('ends at once and releases the hold if no slot is free', async () => {
    const { id, replied } = await service.post();
    expect(await replied).toBe('look');
    expect(await service.stateOf(id)).toBe('rejected');
  });

  test('goes from node to node until all have declined', async () => {
    const nodes = await Promise.all([0, 1, 0].map((dispatcher) => service.connect({ dispatcher })));
    for (const node of nodes) node.autoPilot({ answer: () => 'decline' });
    const { id, replied } = await service.post();
    expect(await replied).toBe('look');
    expect(await service.stateOf(id)).toBe('rejected');
    for (const node of nodes) expect(frameTypesOf(node)).toEqual(['welcome', 'offer']);
    await Promise.all(nodes.map((node) => node.close()));
  });

  test('keeps the nodes of a dispatcher if Redis refuses a message to it', async () => {
    const nodes = await Promise.all(
      [0, 1].map((dispatcher) => service.connect({ dispatcher, slots: 4 })),
    );
    for (const node of nodes) node.autoPilot({ answer: () => 'decline' });
    await service.ageFleet();
    await service.redis.call('ACL', 'SETUSER', 'default', '-publish');
    onTestFinished(async () => {
      await service.redis.call('ACL', 'SETUSER', 'default', '+publish');
    });
    const { id } = await service.post({ replyMsMax: 0 });
    await waitUntil(async () => (await service.stateOf(id)) === 'rejected');
    const registry = createFleetRegistry({ redis: service.redis, prefix: service.prefix });
    await registry.refresh('another');
    onTestFinished(() => registry.suspect('another'));
    for (const node of nodes) {
      const reservation = await registry.reserve({
        dispatcherId: 'another',
        jobType: 'ats.application',
        tier: 'instant',
        excludeNodeIds: [uuidOf(node.nodeId)],
        submissionId: randomUUID(),
        tenantId: undefined,
        ttlMs: 100,
      });
      expect(reservation.kind).toBe('reserved');
    }
    await Promise.all(nodes.map((node) => node.close()));
  });

  test('asks a second node when the first is silent, and revokes the offer to the first', async () => {
    const silent = await service.connect({ slots: 9, dispatcher: 1 });
    const awake = await service.connect({ slots: 2 });
    const { id, replied } = await service.post();
    const { offerId } = await silent.next('offer');
    const { submissionId } = await awake.next('offer');
    expect(frameTypesOf(silent)).not.toContain('revoke');
    awake.send({ type: 'accept', offerId: (await offerOf(awake)).offerId });
    expect((await awake.next('assign')).submissionId).toBe(submissionId);
    expect(await silent.next('revoke')).toEqual({ type: 'revoke', offerId });
    expect(await replied).toBe('dispatched');
    silent.send({ type: 'accept', offerId });
    expect(await silent.next('revoke')).toEqual({ type: 'revoke', offerId });
    expect((await service.row(id))?.node_id).toBe(fromWireId('nod', awake.nodeId));
    await Promise.all([silent.close(), awake.close()]);
  });

  test('asks a node that left an offer unanswered only after all others', async () => {
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

  test('gives the submission to one of two nodes that accept, and revokes the other offer', async () => {
    const nodes = [await service.connect(), await service.connect({ dispatcher: 1 })];
    const { id } = await service.post();
    const offers = await Promise.all(nodes.map((node) => node.next('offer')));
    nodes.forEach((node, index) =>
      node.send({ type: 'accept', offerId: offers[index]?.offerId ?? '' }),
    );
    const answers = await Promise.all(
      nodes.map((node) =>
        waitUntil(() => frameTypesOf(node).find((type) => type === 'assign' || type === 'revoke')),
      ),
    );
    expect(answers.toSorted()).toEqual(['assign', 'revoke']);
    expect(await service.stateOf(id)).toBe('dispatched');
    await Promise.all(nodes.map((node) => node.close()));
  });

  test('revokes an unanswered offer after 2 s, and does not ask that node again', async () => {
    const node = await service.connect();
    const { id, replied } = await service.post();
    const { offerId } = await node.next('offer');
    expect(await node.next('revoke')).toEqual({ type: 'revoke', offerId });
    expect(await replied).toBe('look');
    expect(await service.stateOf(id)).toBe('rejected');
    expect(frameTypesOf(node)).toEqual(['welcome', 'offer', 'revoke']);
    await node.close();
  });

  test('goes on with the next node when a link breaks', async () => {
    const first = await service.connect({ slots: 9 });
    const second = await service.connect({ dispatcher: 1 });
    const { id } = await service.post();
    await first.next('offer');
    await first.cut();
    await second.runNext();
    // The end of the first offer must cause the second one. Without this end, the second one would
    // be made after `secondOfferAfterMs`, while the first one is open.
    const [broken, accepted] = await service.offers(id);
    expect(broken).toMatchObject({ nodeId: first.nodeId, answer: 'disconnected' });
    expect(accepted?.offeredAt.localeCompare(broken?.answeredAt ?? '')).toBeGreaterThanOrEqual(0);
    await second.close();
  });

  test('never dispatches a submission past its deadline', async () => {
    const node = await service.connect();
    const { id } = await service.post();
    const { offerId } = await node.next('offer');
    await service.advance(5_000);
    node.send({ type: 'accept', offerId });
    expect(await node.next('revoke')).toEqual({ type: 'revoke', offerId });
    expect(await service.stateOf(id)).toBe('pending');
    await node.close();
  });

  test('works again after Redis loses its data, because the links are entered again', async () => {
    const nodes = [await service.connect(), await service.connect({ dispatcher: 1 })];
    await service.flush();
    for (const node of nodes) node.autoPilot();
    const posted = await Promise.all([service.post(), service.post()]);
    for (const { id } of posted) await service.expectState(id, 'settling');
    await Promise.all(nodes.map((node) => node.close()));
  });

  test('sends the sandbox behaviour with an offer in a sandbox', async () => {
    const node = await service.connect();
    await service.post({ payloadText: payloadText.replace('greenhouse', 'sandbox.decline') });
    expect((await node.next('offer')).sandboxBehaviour).toBe('sandbox.decline');
    await node.close();
  });
});

describe('the records of the offers', () => {
  test('are kept with a dispatched submission: who declined and why, and who accepted', async () => {
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

  test('mark the open offer to another node as revoked', async () => {
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

  test('are kept with a rejected or cancelled submission too', async () => {
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
    await service.cancel(cancelled.id);
    await cancelled.replied;
    await waitUntil(async () => (await service.offers(cancelled.id)).length > 0);
    expect(await service.offers(cancelled.id)).toMatchObject([
      { nodeId: other.nodeId, answer: 'revoked' },
    ]);
    await Promise.all([silent.close(), other.close()]);
  });
});

describe('a submission that was held a moment ago', () => {
  test('is offered with the facts of its job, without a query of Postgres', async () => {
    const node = await service.connect();
    node.autoPilot({ answer: () => 'accept' });
    const { id, replied } = await service.post({
      says: { targetHost: 'from.job.example', agoMs: 400 },
    });
    expect(await replied).toBe('dispatched');
    expect(await offerOf(node)).toMatchObject({ targetHost: 'from.job.example' });
    const [record] = await service.offers(id);
    const heldAt = await service.heldAt(id);
    const afterMs = Date.parse(record?.offeredAt ?? '') - heldAt.getTime();
    expect(afterMs).toBeGreaterThanOrEqual(399);
    expect(afterMs).toBeLessThan(1_500);
    await node.close();
  });

  test.each([
    ['came late', 1_100],
    ['comes from a clock that is ahead', -300],
  ])('is loaded from Postgres if its job %s', async (_what, agoMs) => {
    const node = await service.connect();
    node.autoPilot({ answer: () => 'accept' });
    const { replied } = await service.post({ says: { targetHost: 'from.job.example', agoMs } });
    expect(await replied).toBe('dispatched');
    expect(await offerOf(node)).toMatchObject({ targetHost: 'jobs.example.com' });
    await node.close();
  });

  test('is assigned to no node if it is no longer pending: the accept is answered with revoke', async () => {
    const node = await service.connect();
    node.autoPilot({ answer: () => 'accept' });
    const { id, replied } = await service.post({
      says: { targetHost: 'from.job.example', agoMs: 0 },
      meanwhile: (held) => rejectPending(service.store, held, { onlyOverdue: false }),
    });
    expect(await replied).toBe('look');
    expect(await service.stateOf(id)).toBe('rejected');
    expect(frameTypesOf(node)).toEqual(['welcome', 'offer', 'revoke']);
    await node.close();
  });
});

async function offerOf(node: Awaited<ReturnType<Dispatching['connect']>>) {
  const offer = node.frames.find((frame) => frame.type === 'offer');
  if (offer?.type !== 'offer') throw new Error('the node received no offer');
  return offer;
}
