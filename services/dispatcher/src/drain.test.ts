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

/** An offer to a node of the second dispatcher, which the first dispatcher coordinates. */
async function offerAcross() {
  // While only the first dispatcher runs, it takes the job. Its nodes do not answer.
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
