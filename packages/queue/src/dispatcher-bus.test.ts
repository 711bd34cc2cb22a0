import { EventEmitter, once } from 'node:events';
import type { DispatcherMessage } from '@svc/contracts';
import { waitUntil } from '@svc/testkit';
import { afterEach, expect, test } from 'vitest';
import { createDispatcherBus, publishCancelled, type DispatcherBus } from './index.ts';
import { useRedis } from './queue-harness.fixture.ts';

const silent = { info() {}, warn() {}, error() {} };
const opened: DispatcherBus[] = [];
const { server, redis } = await useRedis();

afterEach(async () => {
  await Promise.all(opened.splice(0).map((bus) => bus.close()));
});

async function openBus(dispatcherId: string, prefix = 'test') {
  const heard = new EventEmitter();
  const bus = createDispatcherBus({
    redis,
    redisUrl: server.redisUrl,
    prefix,
    dispatcherId,
    onMessage: (message) => heard.emit('message', message),
    logger: silent,
  });
  opened.push(bus);
  expect(await bus.listening(5_000)).toBe(true);
  return { bus, next: () => once(heard, 'message') };
}

const revoke: DispatcherMessage = { kind: 'revoke_offer', nodeId: 'n', offerId: 'o' };

test('a message reaches its dispatcher, and the sender learns if no dispatcher is subscribed', async () => {
  const one = await openBus('one');
  const two = await openBus('two');
  const received = two.next();
  expect(await one.bus.send('two', revoke)).toBe(true);
  expect(await received).toEqual([revoke]);
  expect(await one.bus.send('nobody', revoke)).toBe(false);
});

test('a message to the sender itself reaches the same handler', async () => {
  const one = await openBus('one');
  const received = one.next();
  expect(await one.bus.send('one', revoke)).toBe(true);
  expect(await received).toEqual([revoke]);
});

test('a cancel reaches every dispatcher of the prefix', async () => {
  const one = await openBus('one');
  const two = await openBus('two');
  const received = Promise.all([one.next(), two.next()]);
  await publishCancelled(redis, 'test', 'sub');
  const message = { kind: 'stop_submission', submissionId: 'sub' };
  expect(await received).toEqual([[message], [message]]);
});

test('a broadcast reaches only the other dispatchers, and malformed messages are dropped', async () => {
  const one = await openBus('one');
  const two = await openBus('two');
  const ownMessages: unknown[] = [];
  void one.next().then((message) => ownMessages.push(message));
  const received = two.next();
  await redis.publish('{test}:dispatchers.v1', '{"from":"x","message":{"kind":"surprise"}}');
  await redis.publish('{test}:dispatchers.v1', 'no JSON');
  await one.bus.broadcast({ kind: 'registry_lost' });
  expect(await received).toEqual([{ kind: 'registry_lost' }]);
  expect(ownMessages).toEqual([]);
});

test('later messages arrive after one whose handler throws or that nests 100,000 levels', async () => {
  const heard: DispatcherMessage[] = [];
  const errors: object[] = [];
  const bus = createDispatcherBus({
    redis,
    redisUrl: server.redisUrl,
    prefix: 'test',
    dispatcherId: 'fragile',
    onMessage(message) {
      heard.push(message);
      if (heard.length <= 2) throw new Error('cannot be handled');
    },
    logger: { ...silent, error: (fields) => void errors.push(fields) },
  });
  opened.push(bus);
  expect(await bus.listening(5_000)).toBe(true);
  await bus.send('fragile', revoke);
  await publishCancelled(redis, 'test', 'sub');
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  await redis.publish('{test}:dispatchers.v1', `{"from":"x","message":${deep}}`);
  await publishCancelled(redis, 'test', 'last');
  await waitUntil(() => heard.length === 3);
  expect(heard.at(-1)).toEqual({ kind: 'stop_submission', submissionId: 'last' });
  expect(errors).toHaveLength(2);
});
