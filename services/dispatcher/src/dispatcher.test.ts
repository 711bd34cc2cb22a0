import { leaseMs, linkSilentMs, stoppedDeadlineMs } from '@svc/domain';
import { cancelAsOperator } from '@svc/store';
import { testAuthor, waitUntil, type ScriptedNode } from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { useDispatching, frameTypesOf } from './dispatcher.fixture.ts';
import { payloadText } from './post.fixture.ts';

const service = await useDispatching({ dispatchers: 2 });

describe('the life of a submission', () => {
  test('offers no personal data, assigns the payload unchanged, and acknowledges the stored outcome', async () => {
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
    expect(await service.stateOf(id)).toBe('pending');
    node.send({ type: 'accept', offerId: offer.offerId });
    await node.next('assign');
    expect(await service.stateOf(id)).toBe('dispatched');
    expect(await replied).toBe('dispatched');
    expect(node.texts.at(-1)).toContain(`"payload":${payloadText}`);
    node.send({ type: 'start', submissionId: wireId });
    await node.next('begin');
    expect(await service.stateOf(id)).toBe('running');
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

  test('a node may send failed before begin; completed before begin is a bad frame', async () => {
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

  test('a submission reaches a node linked to another dispatcher than the one that took its job', async () => {
    const nodes = await Promise.all([
      service.connect({ dispatcher: 0 }),
      service.connect({ dispatcher: 1 }),
    ]);
    // Each node has one slot and reports no outcome, so one node cannot get both submissions.
    for (const node of nodes) node.autoPilot({ outcome: () => undefined });
    const posted = await Promise.all([service.post(), service.post()]);
    for (const { id } of posted) await service.expectState(id, 'running');
    // `begin` follows the commit, so the state may be visible before the frame arrives.
    for (const node of nodes)
      await waitUntil(() => frameTypesOf(node).includes('begin'), { what: '`begin` at each node' });
    await Promise.all(nodes.map((node) => node.close()));
  });
});

async function publishes(): Promise<number> {
  const stats = await service.redis.info('commandstats');
  return Number(/cmdstat_publish:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

function offersOf({ frames }: ScriptedNode): string[] {
  return frames.flatMap((frame) => (frame.type === 'offer' ? [frame.offerId] : []));
}

describe('two dispatchers with many submissions at once', () => {
  const size = { jobs: 8, idsPerJob: 12 };

  test.each([
    ['both', [0, 0, 1, 1]],
    ['one', [1, 1, 1, 1]],
  ])(
    'and nodes on %s of them publish at most once per two submissions, replies included',
    async (_which, dispatchers) => {
      // The clock stands still. Otherwise an answer on a busy machine comes after
      // `secondOfferAfterMs`, and a second node is asked, which needs more messages.
      service.clock.stop();
      onTestFinished(() => service.clock.start());
      const nodes = await Promise.all(
        dispatchers.map((dispatcher) => service.connect({ dispatcher, slots: 100 })),
      );
      for (const node of nodes)
        node.autoPilot({ answer: () => 'silent', outcome: () => undefined });
      const before = await publishes();
      const replied = service.postJobs(size);
      await waitUntil(() => nodes.flatMap(offersOf).length === size.jobs * size.idsPerJob);
      for (const node of nodes)
        for (const offerId of offersOf(node)) node.send({ type: 'accept', offerId });
      const replies = await replied;
      expect(new Set(replies)).toEqual(new Set(['dispatched']));
      expect((await publishes()) - before).toBeLessThanOrEqual(replies.length / 2);
    },
  );
});

describe('a run that has ended elsewhere', () => {
  test('is cancelled at its node, whose slot is free after stopped', async () => {
    const node = await service.connect({ dispatcher: 1 });
    const { id } = await service.post();
    const submissionId = await node.runNext();
    await service.cancel(id);
    expect(await node.next('cancel')).toEqual({ type: 'cancel', submissionId });
    const refused = await service.post();
    await refused.replied;
    expect(await service.stateOf(refused.id)).toBe('rejected');
    node.send({ type: 'stopped', submissionId, usage: {} });
    await node.next('ack');
    await service.post();
    await node.next('offer');
    await node.close();
  });

  test('is cancelled at its node, also if another node of the same dispatcher accepted it too', async () => {
    const nodes = [await service.connect(), await service.connect()];
    const { id, wireId } = await service.post();
    const offers = await Promise.all(nodes.map((node) => node.next('offer')));
    nodes.forEach((node, index) =>
      node.send({ type: 'accept', offerId: offers[index]?.offerId ?? '' }),
    );
    const withFrame = (type: string) => () =>
      nodes.find((node) => frameTypesOf(node).includes(type));
    const winner = await waitUntil(withFrame('assign'));
    const loser = await waitUntil(withFrame('revoke'));
    await service.cancel(id);
    expect(await winner.next('cancel')).toEqual({ type: 'cancel', submissionId: wireId });
    expect(frameTypesOf(loser)).not.toContain('cancel');
    winner.send({ type: 'stopped', submissionId: wireId, usage: {} });
    await winner.next('ack');
    await Promise.all(nodes.map((node) => node.close()));
  });

  test('is cancelled on the next link of its node too', async () => {
    const own = await service.newNode();
    const first = await service.connect(own);
    const { id } = await service.post();
    const submissionId = await first.runNext();
    await first.cut();
    const next = await service.connect({ ...own, running: [submissionId] });
    await service.cancel(id);
    expect(await next.next('cancel')).toEqual({ type: 'cancel', submissionId });
    await next.close();
  });

  test('a frame about a submission of another node is answered with cancel, an outcome with ack', async () => {
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

  test('a cancel while a submission is offered revokes the offer and replies to the gateway', async () => {
    const node = await service.connect({ slots: 3 });
    const { id, replied } = await service.post();
    const { offerId } = await node.next('offer');
    await service.cancel(id);
    expect(await replied).toBe('look');
    expect(await node.next('revoke')).toEqual({ type: 'revoke', offerId });
    await node.close();
  });
});

/**
 * Advances the clock by `ms`, in steps. The node sends a frame in each step, because a silent link
 * would be closed.
 */
async function pass(node: ScriptedNode, ms: number): Promise<void> {
  const stepMs = linkSilentMs / 3;
  for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
    service.clock.advance(Math.min(leftMs, stepMs));
    node.send({ type: 'usage', submissionId: 'sub_x', usage: {} });
    await node.next('cancel', { where: ({ submissionId }) => submissionId === 'sub_x' });
  }
}

describe('a run that has ended elsewhere and whose node sends nothing', () => {
  test('is cancelled at its node although the message about it was lost', async () => {
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

describe('a node that gets cancel and does not send stopped', () => {
  test('has its slot back after 30 s', async () => {
    const node = await service.connect();
    const { id } = await service.post();
    await node.runNext();
    await service.cancel(id);
    await node.next('cancel');
    await pass(node, stoppedDeadlineMs - 1_000);
    const early = await service.post();
    await early.replied;
    expect(await service.stateOf(early.id)).toBe('rejected');
    await pass(node, 1_000);
    await service.post();
    await node.next('offer');
    await node.close();
  });
});

describe('hello', () => {
  test('loses at once the assignments that it does not name; the runs that it names go on', async () => {
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

  test('of another agent instance gets no begin for a run that the first instance has begun', async () => {
    const own = await service.newNode();
    const first = await service.connect({ ...own, instanceId: 'first' });
    const { id } = await service.post();
    const submissionId = await first.runNext();
    await first.cut();
    const running = [submissionId];
    const second = await service.connect({ ...own, dispatcher: 1, running, instanceId: 'second' });
    second.send({ type: 'start', submissionId });
    expect(await second.next('cancel')).toEqual({ type: 'cancel', submissionId });
    await second.cut();
    const again = await service.connect({ ...own, running, instanceId: 'first' });
    again.send({ type: 'start', submissionId });
    expect(await again.next('begin')).toEqual({ type: 'begin', submissionId });
    expect(await service.stateOf(id)).toBe('running');
    expect(frameTypesOf(second)).not.toContain('begin');
    await again.close();
  });

  test('without an instance id gets begin only once', async () => {
    const node = await service.connect({ instanceId: undefined });
    await service.post();
    const submissionId = await node.runNext();
    node.send({ type: 'start', submissionId });
    expect(await node.next('cancel')).toEqual({ type: 'cancel', submissionId });
    await node.close();
  });

  test.each([0, 1])('of a newer link at dispatcher %i closes the older one', async (other) => {
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
  test('from a node stops its offers and lets its runs finish', async () => {
    const node = await service.connect({ slots: 5 });
    const { id } = await service.post();
    const submissionId = await node.runNext();
    node.send({ type: 'drain' });
    await waitUntil(async () => {
      const { id: next, replied } = await service.post();
      await replied;
      return (await service.stateOf(next)) === 'rejected';
    });
    node.send({ type: 'completed', submissionId, usage: {}, result: {} });
    await node.next('ack');
    expect(await service.stateOf(id)).toBe('settling');
    await node.close();
  });
});
