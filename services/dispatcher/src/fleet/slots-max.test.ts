import { expect, test } from 'vitest';
import { useDispatching } from '../dispatcher.fixture.ts';

/** A node whose slots are all taken gets no further offer. */

const service = await useDispatching();

test('a Redis that is emptied during an offer gives the slot of the offer to nobody else', async () => {
  const node = await service.connect(await service.newNode(1));
  await service.post();
  const { offerId } = await node.next('offer');
  await service.flush();
  const { replied } = await service.post();
  expect(await replied).toBe('look');
  node.send({ type: 'accept', offerId });
  await node.next('assign');
  expect(node.frames.filter(({ type }) => type === 'offer')).toHaveLength(1);
});

test('an outcome that comes before its accept is committed does not free the slot', async () => {
  const node = await service.connect(await service.newNode(1));
  const { id, wireId } = await service.post();
  const { offerId } = await node.next('offer');
  const unlock = await service.lockRow(id);
  node.send({ type: 'accept', offerId });
  const failure = { code: 'captcha', message: 'x' } as const;
  node.send({ type: 'failed', submissionId: wireId, usage: {}, failure });
  await node.next('ack');
  await unlock();
  await node.next('assign');
  const { replied } = await service.post();
  expect(await replied).toBe('look');
  expect(node.frames.filter(({ type }) => type === 'offer')).toHaveLength(1);
  await service.cancel(id);
  await node.next('cancel');
});
