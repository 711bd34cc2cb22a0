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

test('a stop lets the open offers of another coordinator come to their end', async () => {
  // Only the first dispatcher runs, so it coordinates. Its nodes are silent until the second runs.
  const silent = await Promise.all([1, 2, 3, 4].map(() => service.connect({ slots: 1 })));
  const { replied } = await service.post();
  await Promise.race(silent.map((node) => node.next('offer')));
  await service.startAnother();
  const node = await service.connect({ dispatcher: 1, slots: 200 });
  const { offerId } = await node.next('offer');
  await service.close(1);
  expect(await node.next('revoke')).toEqual({ type: 'revoke', offerId });
  expect((await node.closed).code).toBe(1012);
  await replied;
});
