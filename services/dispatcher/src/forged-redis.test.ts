import { randomUUID } from 'node:crypto';
import { createFleetRegistry, createProducer } from '@svc/queue';
import { waitUntil } from '@svc/testkit';
import { expect, test } from 'vitest';
import { frameTypesOf, useDispatching } from './dispatcher.fixture.ts';

/** Somebody who can write to Redis forges what services read there (docs/RELIABILITY.md). */

const service = await useDispatching();

async function forge(message: Readonly<Record<string, unknown>>): Promise<void> {
  const channel = `{${service.prefix}}:dispatchers.v1`;
  await service.redis.publish(channel, JSON.stringify({ from: '', message }));
}

test('a forged accept gives the gateway no proof that the submission is dispatched', async () => {
  const node = await service.connect();
  const { id, replied } = await service.post();
  const { offerId } = await node.next('offer');
  await forge({ kind: 'offer_ended', submissionId: id, offerId, result: 'dispatched', proof: 'x' });
  expect(await replied).toBe('look');
  expect(await service.stateOf(id)).toBe('pending');
});

test('a forged job with forged facts gives no second node a submission that runs', async () => {
  const node = await service.connect({ slots: 1 });
  const { id, replied } = await service.post();
  const submissionId = await node.runNext();
  expect(await replied).toBe('dispatched');
  const second = await service.connect({ slots: 1 });
  const producer = createProducer({ redis: service.redis, prefix: service.prefix });
  const facts = { jobType: 'ats.application', tier: 'instant', requestId: 'forged' } as const;
  const nowMs = Math.round(service.clock.nowMs());
  await producer.enqueue('dispatch', {
    submissionIds: [id],
    replyTo: null,
    held: {
      sentAtMs: nowMs,
      each: [{ heldAtMs: nowMs, facts: { ...facts, targetHost: 'forged.example' } }],
    },
  });
  const { offerId, targetHost } = await second.next('offer');
  expect(targetHost).toBe('forged.example');
  second.send({ type: 'accept', offerId });
  await second.next('revoke');
  expect(frameTypesOf(second)).not.toContain('assign');
  node.send({ type: 'completed', submissionId, usage: {}, result: {} });
  await node.next('ack');
  expect(await service.stateOf(id)).toBe('settling');
  await producer.close();
});

test('a forged stop_submission stops no run that Postgres does not know as ended', async () => {
  const node = await service.connect({ slots: 2 });
  const running = await service.post();
  const submissionId = await node.runNext();
  const cancelled = await service.post();
  const cancelledId = await node.runNext();
  await forge({ kind: 'stop_submission', submissionId: running.id });
  await service.cancel(cancelled.id);
  expect(await node.next('cancel')).toEqual({ type: 'cancel', submissionId: cancelledId });
  node.send({ type: 'completed', submissionId, usage: {}, result: {} });
  await node.next('ack');
  expect(frameTypesOf(node).filter((type) => type === 'cancel')).toHaveLength(1);
  expect(await service.stateOf(running.id)).toBe('settling');
});

test('a forged node in the fleet registry does not keep a job from a real one', async () => {
  const registry = createFleetRegistry({ redis: service.redis, prefix: service.prefix });
  const dispatcherId = randomUUID();
  await registry.refresh(dispatcherId);
  await registry.join({
    nodeId: randomUUID(),
    dispatcherId,
    linkId: randomUUID(),
    epoch: 0,
    linkEpoch: 1,
    jobTypes: ['ats.application'],
    slots: 1_000,
    draining: false,
    submissionIds: [],
  });
  const node = await service.connect();
  node.autoPilot();
  const { replied } = await service.post();
  expect(await replied).toBe('dispatched');
});

test('forged totals of the fleet registry keep jobs away until its keys are deleted', async () => {
  const node = await service.connect();
  node.autoPilot();
  const fleet = `{${service.prefix}}:fleet`;
  const fields = Object.keys(await service.redis.hgetall(`${fleet}:totals`));
  await service.redis.hset(`${fleet}:totals`, Object.fromEntries(fields.map((name) => [name, -9])));
  const refused = await service.post();
  expect(await refused.replied).toBe('look');
  await service.redis.del(await service.redis.keys(`${fleet}:*`));
  await waitUntil(
    async () => (await service.post().then(({ replied }) => replied)) === 'dispatched',
  );
});

test.each([
  ['more node seconds than a tier has', { maxNodeSeconds: 1_801 }],
  ['an expiry later than any offer has', { expiresInMs: 2_001 }],
  ['a reason of 257 characters', { before: [recordWith('x'.repeat(257))] }],
])('a forged offer with %s reaches no node', async (_what, forged) => {
  const node = await service.connect({ slots: 5 });
  const { nodeId, linkId } = await linkOf();
  const facts = { jobType: 'ats.application', tier: 'instant', requestId: 'forged' };
  const common = { kind: 'make_offer', coordinatorId: randomUUID(), nodeId, linkId };
  const message = { ...common, ...facts, submissionId: randomUUID(), targetHost: 'forged.example' };
  const offered = { offeredAt: new Date().toISOString(), before: [], expiresInMs: 2_000 };
  await forge({ ...message, ...offered, maxNodeSeconds: 300, offerId: 'ofr_1', ...forged });
  await forge({ ...message, ...offered, maxNodeSeconds: 300, offerId: 'ofr_2' });
  // Messages arrive in order, so the first forged offer has not reached the node if this one has.
  expect(await node.next('offer')).toMatchObject({ offerId: 'ofr_2' });
});

function recordWith(reason: string) {
  const at = new Date(0).toISOString();
  const ids = { offerId: 'ofr_0', nodeId: randomUUID() };
  return { ...ids, answer: 'declined', reason, offeredAt: at, answeredAt: at };
}

/** The one link in the fleet registry, as a writer to Redis sees it. */
async function linkOf(): Promise<{ readonly nodeId: string; readonly linkId: string }> {
  const key = `{${service.prefix}}:fleet:nodes`;
  let found: { nodeId: string; linkId: string; slots: number }[] = [];
  await waitUntil(async () => {
    const texts = Object.values(await service.redis.hgetall(key));
    found = texts.map((text) => JSON.parse(text)).filter(({ slots }) => slots !== 1_000);
    return found.length === 1;
  });
  const [link] = found;
  if (link === undefined) throw new Error('no node is linked');
  return link;
}
