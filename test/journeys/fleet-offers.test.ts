import type { Tier } from '@svc/client';
import { queues } from '@svc/contracts';
import { waitUntil } from '@svc/testkit';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Fleet, type FleetNode, startFleet } from '../support/fleet.ts';
import { application, type Journey, refusal } from '../support/journey.ts';

/**
 * The tests check which of ten nodes get an offer and when, and how many slots each tier leaves
 * free (CONTRACT 7).
 */

let fleet: Fleet;

beforeAll(async () => {
  fleet = await startFleet();
});

afterAll(() => fleet.close());

function offersOf(node: FleetNode): readonly string[] {
  return node.frames.flatMap((frame) => (frame.type === 'offer' ? [frame.offerId] : []));
}

function begunBy(node: FleetNode): number {
  return node.frames.filter(({ type }) => type === 'begin').length;
}

function post({ client }: Journey, key: string, tier: Tier = 'instant') {
  return client.submit(application(key, 'model', tier));
}

async function isHeldNoMore({ client }: Journey): Promise<void> {
  expect(await client.balance()).toMatchObject({ held: 0, balance: 100_000 });
}

test('offers go to nodes in order of free slots, most first, until all have declined', async () => {
  const journey = await fleet.journey();
  const nodes = await fleet.ten((index) => 10 - index);
  const asked: number[] = [];
  for (const [index, node] of nodes.entries()) {
    node.autoPilot({
      answer: () => {
        asked.push(index);
        return 'decline';
      },
    });
  }
  const error = await refusal(post(journey, 'declined by all'));
  expect(error).toMatchObject({ status: 503, code: 'dispatch_unavailable' });
  expect(asked).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await isHeldNoMore(journey);
});

test('if every node is silent, at most two offers are open, each for 2 s, and dispatch ends at 5 s', async () => {
  const journey = await fleet.journey();
  const nodes = await fleet.ten((index) => 10 - index);
  const startedMs = performance.now();
  const error = await refusal(post(journey, 'silence'));
  const tookMs = performance.now() - startedMs;
  expect(error).toMatchObject({ status: 503, code: 'dispatch_unavailable' });
  expect(tookMs).toBeGreaterThan(4_900);
  expect(tookMs).toBeLessThan(7_000);
  // Offers go out at 0 and 300 ms. Each time one of the two open offers expires, the next offer
  // goes out.
  const asked = nodes.filter((node) => offersOf(node).length > 0);
  expect(asked.map(({ nodeId }) => nodeId)).toEqual(
    nodes.slice(0, asked.length).map(({ nodeId }) => nodeId),
  );
  expect([5, 6]).toContain(asked.length);
  for (const node of asked) {
    const [offerId] = offersOf(node);
    expect(await node.next('revoke')).toEqual({ type: 'revoke', offerId });
  }
  await isHeldNoMore(journey);
});

test('a second offer goes out when the first is 300 ms old; the first accept to commit wins', async () => {
  const journey = await fleet.journey();
  const nodes = await fleet.ten((index) => 10 - index);
  const [first, second, third] = nodes;
  if (first === undefined || second === undefined) throw new Error('the test needs ten nodes');
  const creation = post(journey, 'two accepts');
  const one = await first.next('offer');
  const atMs = performance.now();
  const other = await second.next('offer');
  expect(performance.now() - atMs).toBeGreaterThan(200);
  first.send({ type: 'accept', offerId: one.offerId });
  second.send({ type: 'accept', offerId: other.offerId });
  const { submissionId } = await creation;
  const [winner, loser] = (await isAssigned(first)) ? [first, second] : [second, first];
  await winner.next('assign');
  const [lost] = offersOf(loser);
  expect(await loser.next('revoke')).toEqual({ type: 'revoke', offerId: lost });
  // An accept of a revoked offer gets only another `revoke`.
  loser.send({ type: 'accept', offerId: lost ?? '' });
  expect(await loser.next('revoke')).toEqual({ type: 'revoke', offerId: lost });
  expect(loser.frames.some(({ type }) => type === 'assign')).toBe(false);
  expect(third === undefined ? undefined : offersOf(third)).toEqual([]);
  expect(await journey.client.getSubmission(submissionId)).toMatchObject({ status: 'dispatched' });
});

async function isAssigned({ frames }: FleetNode): Promise<boolean> {
  const answer = await waitUntil(() =>
    frames.find(({ type }) => type === 'assign' || type === 'revoke'),
  );
  return answer.type === 'assign';
}

test('if a link breaks with an offer open, the next node gets the offer at once', async () => {
  const journey = await fleet.journey();
  const nodes = await fleet.ten((index) => 10 - index);
  const creation = post(journey, 'broken links');
  for (const node of nodes.slice(0, 5)) {
    await node.next('offer');
    await node.cut();
  }
  const last = nodes[5];
  if (last === undefined) throw new Error('the test needs ten nodes');
  await last.runNext();
  expect((await creation).status).toBe('dispatched');
});

test('each tier leaves its headroom free, and a creation without a slot is refused at once', async () => {
  const journey = await fleet.journey();
  const nodes = await fleet.ten(() => 4);
  for (const node of nodes) node.autoPilot({ outcome: () => undefined });
  const take = async (tier: Tier, count: number): Promise<number> => {
    const names = Array.from({ length: count }, (_, index) => `${tier} ${index}`);
    const create = async (name: string): Promise<boolean> =>
      await post(journey, name, tier).then(
        () => true,
        () => false,
      );
    const taken = await Promise.all(names.map(create));
    // On a busy machine, a node may answer an offer too late although it has a slot.
    for (const [index, name] of names.entries()) taken[index] ||= await create(name);
    return taken.filter(Boolean).length;
  };
  // With 40 slots in total, `standard` needs more than 4 free slots, `priority` more than 1, and
  // `instant` at least 1.
  expect(await take('standard', 38)).toBe(36);
  expect(await take('priority', 5)).toBe(3);
  expect(await take('instant', 3)).toBe(1);
  for (const tier of ['standard', 'priority', 'instant'] as const) {
    const startedMs = performance.now();
    const error = await refusal(post(journey, `no slot ${tier}`, tier));
    expect(error).toMatchObject({ status: 503, code: 'dispatch_unavailable' });
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  }
  await waitUntil(() => nodes.every((node) => begunBy(node) === 4));
});

test('an instant submission is dispatched before an earlier standard one', async () => {
  const journey = await fleet.journey();
  const nodes = await fleet.ten(() => 2);
  for (const node of nodes) node.autoPilot({ outcome: () => undefined });
  const redis = new Redis(fleet.stack.redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue(queues.dispatch.name, { connection: redis, prefix: '{svc}' });
  const waiting = async (): Promise<(number | undefined)[]> =>
    (await queue.getJobs(['prioritized'], 0, -1, true)).map(({ opts }) => opts.priority);
  try {
    await queue.pause();
    const standard = post(journey, 'came first', 'standard');
    await waitUntil(async () => (await waiting()).length === 1);
    const instant = post(journey, 'came second', 'instant');
    await waitUntil(async () => (await waiting()).length === 2);
    expect(await waiting()).toEqual([1, 3]);
    await queue.resume();
    expect((await Promise.all([instant, standard])).map(({ status }) => status)).toEqual([
      'dispatched',
      'dispatched',
    ]);
  } finally {
    await queue.resume();
    await queue.close();
    redis.disconnect();
  }
});

test('a draining node gets no offers and its slots do not count', async () => {
  const journey = await fleet.journey();
  const nodes = await fleet.ten(() => 2);
  for (const node of nodes) node.autoPilot({ outcome: () => undefined });
  const [draining, staying] = [nodes.slice(0, 5), nodes.slice(5)];
  for (const node of draining) node.send({ type: 'drain' });
  await waitUntil(async () => (await fleet.slots()).slots === 10);
  // With 10 slots in total, `standard` leaves one slot free.
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      post(journey, `beside drain ${index}`, 'standard').then(
        () => 'taken',
        () => 'refused',
      ),
    ),
  );
  expect(answers.filter((answer) => answer === 'taken')).toHaveLength(9);
  await waitUntil(() => staying.reduce((sum, node) => sum + begunBy(node), 0) === 9);
  expect(draining.flatMap(offersOf)).toEqual([]);
});
