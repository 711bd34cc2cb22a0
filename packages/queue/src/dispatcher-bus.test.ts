import { EventEmitter, once } from 'node:events';
import { busBatchMax, type DispatcherMessage } from '@svc/contracts';
import { waitUntil } from '@svc/testkit';
import { afterEach, describe, expect, test } from 'vitest';
import { closeRedis, connectRedis, createDispatcherBus, publishCancelled } from './index.ts';
import { useRedis } from './queue-harness.fixture.ts';

const silent = { info() {}, warn() {}, error() {} };
const closing: (() => Promise<void>)[] = [];
const { server, redis } = await useRedis();

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function openBus(dispatcherId: string, prefix = 'test') {
  const events = new EventEmitter();
  const heard: DispatcherMessage[] = [];
  const bus = createDispatcherBus({
    redis,
    redisUrl: server.redisUrl,
    prefix,
    dispatcherId,
    onMessage(message) {
      heard.push(message);
      events.emit('message', message);
    },
    logger: silent,
  });
  closing.push(() => bus.close());
  expect(await bus.listening(5_000)).toBe(true);
  return { bus, heard, next: () => once(events, 'message') };
}

const revoke = { kind: 'revoke_offer', nodeId: 'n', offerId: 'o' } as const;

test('a message reaches its dispatcher, and the sender learns if no dispatcher is subscribed', async () => {
  const one = await openBus('one');
  const two = await openBus('two');
  const received = two.next();
  expect(await one.bus.send('two', revoke)).toBe(true);
  expect(await received).toEqual([revoke]);
  const toNobody = [one.bus.send('nobody', revoke), one.bus.send('nobody', revoke)];
  expect(await Promise.all(toNobody)).toEqual([false, false]);
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
  closing.push(() => bus.close());
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

function revokes(count: number, fields: Partial<typeof revoke> = {}) {
  return Array.from({ length: count }, (_, index) => ({
    ...revoke,
    ...fields,
    offerId: `o${index}`,
  }));
}

/** Subscribes like a dispatcher of an older version, which cannot read batches of messages. */
async function openOldDispatcher(dispatcherId: string): Promise<readonly string[]> {
  const texts: string[] = [];
  const subscriber = connectRedis(server.redisUrl, 'subscriber');
  subscriber.on('message', (_channel, text: string) => texts.push(text));
  await subscriber.subscribe(`{test}:dispatcher.v1:${dispatcherId}`, '{test}:dispatchers.v1');
  closing.push(() => closeRedis(subscriber));
  return texts;
}

async function publishes(): Promise<number> {
  const stats = await redis.info('commandstats');
  return Number(/cmdstat_publish:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

async function publishesOf(work: () => Promise<unknown>): Promise<number> {
  const before = await publishes();
  await work();
  return (await publishes()) - before;
}

describe('batches', () => {
  test('messages of one moment to one dispatcher share a PUBLISH, in their order', async () => {
    const { bus } = await openBus('one');
    const { heard } = await openBus('two');
    const sent = revokes(busBatchMax);
    const count = await publishesOf(async () => {
      const areReceived = await Promise.all(sent.map((message) => bus.send('two', message)));
      expect(new Set(areReceived)).toEqual(new Set([true]));
    });
    expect(count).toBe(1);
    await waitUntil(() => heard.length === sent.length);
    expect(heard).toEqual(sent);
  });

  test('are bounded in number and in characters, and no message is lost', async () => {
    const { bus } = await openBus('one');
    const { heard } = await openBus('two');
    const many = revokes(busBatchMax + 1);
    expect(
      await publishesOf(() => Promise.all(many.map((message) => bus.send('two', message)))),
    ).toBe(2);
    const long = revokes(5).map((message) => ({
      kind: 'make_offer' as const,
      coordinatorId: 'one',
      nodeId: message.nodeId,
      linkId: 'l',
      offerId: message.offerId,
      submissionId: 's',
      maxNodeSeconds: 300,
      expiresInMs: 2_000,
      offeredAt: '2026-01-01T00:00:00.000Z',
      before: [],
      jobType: 'ats.application',
      tier: 'instant' as const,
      targetHost: 'h'.repeat(100_000),
      requestId: 'r',
    }));
    expect(
      await publishesOf(() => Promise.all(long.map((message) => bus.send('two', message)))),
    ).toBe(3);
    await waitUntil(() => heard.length === many.length + long.length);
    expect(heard).toEqual([...many, ...long]);
  });

  test('a malformed message of a batch does not affect the others', async () => {
    const { heard } = await openBus('two');
    const [first, last] = revokes(2);
    const messages = [first, { kind: 'surprise' }, { kind: 'revoke_offer' }, null, last];
    await redis.publish('{test}:dispatcher.v2:two', JSON.stringify({ from: 'x', messages }));
    await waitUntil(() => heard.length === 2);
    expect(heard).toEqual([first, last]);
  });

  test.each([
    ['too many messages', JSON.stringify({ from: 'x', messages: revokes(busBatchMax + 1) })],
    ['no message', '{"from":"x","messages":[]}'],
    ['no sender', JSON.stringify({ messages: revokes(1) })],
    [
      'too many characters',
      JSON.stringify({ from: 'x', messages: revokes(1), a: 'a'.repeat(2e6) }),
    ],
    ['too many levels', `{"from":"x","messages":${'['.repeat(1e5)}${']'.repeat(1e5)}}`],
    ['no JSON', '{"from":"x","messages":['],
  ])('a batch with %s is dropped, and the next one is read', async (_name, text) => {
    const { heard } = await openBus('two');
    await redis.publish('{test}:dispatcher.v2:two', text);
    await redis.publish(
      '{test}:dispatcher.v2:two',
      JSON.stringify({ from: 'x', messages: [revoke] }),
    );
    await waitUntil(() => heard.length > 0);
    expect(heard).toEqual([revoke]);
  });
});

describe('next to a dispatcher of a version without batches', () => {
  test('that dispatcher gets single messages only, as it reads them', async () => {
    const texts = await openOldDispatcher('old');
    const { bus } = await openBus('new');
    const [first, second, third] = revokes(3);
    if (first === undefined || second === undefined || third === undefined) throw new Error();
    expect(await Promise.all([bus.send('old', first), bus.send('old', second)])).toEqual([
      true,
      true,
    ]);
    expect(await publishesOf(() => bus.send('old', third))).toBe(1);
    await bus.broadcast({ kind: 'registry_lost' });
    await waitUntil(() => texts.length === 4);
    const messages = [first, second, third, { kind: 'registry_lost' }];
    expect(texts.map((text): unknown => JSON.parse(text))).toEqual(
      messages.map((message) => ({ from: 'new', message })),
    );
  });

  test('its single messages are understood', async () => {
    const { heard } = await openBus('new');
    const text = JSON.stringify({ from: 'old', message: revoke });
    await redis.publish('{test}:dispatcher.v1:new', text);
    await waitUntil(() => heard.length > 0);
    expect(heard).toEqual([revoke]);
  });
});
