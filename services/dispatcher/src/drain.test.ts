import { waitUntil } from '@svc/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startDispatching, type Dispatching } from './dispatcher.fixture.ts';

let service: Dispatching;

beforeEach(async () => {
  service = await startDispatching();
});

afterEach(async () => {
  await service.settled();
  await service.end();
});

/**
 * Makes an offer to a node of the second dispatcher. The first dispatcher coordinates the
 * submission.
 */
async function offerAcross() {
  // At first only the first dispatcher runs, so it takes the job. Its nodes do not answer.
  const silent = await Promise.all([1, 2, 3, 4].map(() => service.connect({ slots: 1 })));
  const { replied } = await service.post();
  await Promise.race(silent.map((node) => node.next('offer')));
  await service.startAnother();
  const node = await service.connect({ dispatcher: 1, slots: 200 });
  const { offerId } = await node.next('offer');
  return { node, offerId, replied };
}

test('a stop lets the open offers of another coordinator come to their end', async () => {
  const { node, offerId, replied } = await offerAcross();
  await service.close(1);
  expect(await node.next('revoke')).toEqual({ type: 'revoke', offerId });
  expect((await node.closed).code).toBe(1012);
  await replied;
});

async function isStopping(): Promise<boolean> {
  const { nodeId } = await service.newNode();
  return await service.connect({ nodeId, secret: 'wrong' }).then(
    () => false,
    (error: unknown) => String(error).includes('503'),
  );
}

test('a submission waits for the nodes of a stopping dispatcher to reach another one', async () => {
  await service.startAnother();
  await service.ageFleet();
  const credentials = await service.newNode();
  const node = await service.connect({ dispatcher: 1, ...credentials });
  const stopped = service.close(1);
  await node.closed;
  const { id, replied } = await service.post();
  await stopped;
  expect(await service.stateOf(id)).toBe('pending');
  const moved = await service.connect({ dispatcher: 0, ...credentials });
  await moved.runNext();
  await replied;
  expect(await service.stateOf(id)).toBe('running');
});

test('a stop lets the submissions that it coordinates go on to the next node', async () => {
  await service.ageFleet();
  const nodes = await Promise.all([1, 2].map(() => service.connect({ slots: 1 })));
  const { id, replied } = await service.post();
  const offered = nodes.map(async (node) => ({ node, offer: await node.next('offer') }));
  const first = await Promise.race(offered);
  const stopped = service.close(0);
  await waitUntil(isStopping);
  first.node.send({ type: 'decline', offerId: first.offer.offerId, reason: 'busy' });
  const second = (await Promise.all(offered)).find(({ node }) => node !== first.node);
  second?.node.send({ type: 'accept', offerId: second.offer.offerId });
  await Promise.all([replied, stopped]);
  expect(await service.stateOf(id)).toBe('dispatched');
});

test('half of the nodes take offers until the other half has moved', async () => {
  await service.startAnother();
  await service.ageFleet();
  const nodes = await Promise.all([1, 2].map(() => service.connect({ dispatcher: 1, slots: 1 })));
  const stopped = service.close(1);
  const moved = await Promise.race(nodes.map(async (node) => ({ node, end: await node.closed })));
  const { id, replied } = await service.post();
  await nodes.find((node) => node !== moved.node)?.runNext();
  await Promise.all([replied, stopped]);
  expect(await service.stateOf(id)).toBe('running');
});
