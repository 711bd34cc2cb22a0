import { randomUUID } from 'node:crypto';
import { waitUntil } from '@svc/testkit';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { quiet, useQueues } from './queue-harness.fixture.ts';
import {
  createReplier,
  createReplyListener,
  publishReplies,
  type Reply,
  type ReplyListener,
} from './reply-channel.ts';

const queues = useQueues();
let listener: ReplyListener;
let other: ReplyListener;

function listen(): ReplyListener {
  const { gate, prefix } = queues();
  return createReplyListener({
    redisUrl: gate.redisUrl,
    prefix,
    name: randomUUID(),
    isProof,
    logger: quiet,
  });
}

const proofOf = (submissionId: string) => `proof of ${submissionId}`;
const isProof = (submissionId: string, proof: string) => proof === proofOf(submissionId);
const newsOf = (index: number) => (index % 3 === 0 ? 'look' : 'dispatched');
const look = (submissionId: string): Reply => ({ submissionId, news: 'look' });

beforeEach(async () => {
  listener = listen();
  other = listen();
  await waitUntil(() => listener.isListening() && other.isListening());
});
afterEach(async () => {
  await listener.close();
  await other.close();
});

test('a reply about many submissions reaches every waiting caller of each, and no others', async () => {
  const ids = Array.from({ length: 100 }, () => randomUUID());
  const waits = ids.map((id) => listener.wait(id, 5_000));
  const again = listener.wait(ids[0] ?? '', 5_000);
  const bystanders = [listener.wait(randomUUID(), 200), other.wait(ids[0] ?? '', 200)];
  await publishReplies(queues().redis, listener.channel, ids.map(look));
  expect(new Set(await Promise.all([...waits, again]))).toEqual(new Set(['look']));
  expect(await Promise.all(bystanders)).toEqual(['timeout', 'timeout']);
});

test('replies that share a message keep their own result, in any order', async () => {
  const reply = createReplier(queues().redis);
  const ids = Array.from({ length: 70 }, () => randomUUID());
  const waits = ids.map((id) => listener.wait(id, 5_000));
  await Promise.all(
    ids.map((submissionId, index) =>
      reply(listener.channel, { submissionId, news: newsOf(index), proof: proofOf(submissionId) }),
    ),
  );
  expect(await Promise.all(waits)).toEqual(ids.map((_id, index) => newsOf(index)));
});

test('ids without a count, as an older dispatcher sends them, mean look', async () => {
  const id = randomUUID();
  const wait = listener.wait(id, 5_000);
  await queues().redis.publish(listener.channel, JSON.stringify([id]));
  expect(await wait).toBe('look');
});

test.each([
  ['no proof, as an older dispatcher sends it', (id: string) => [id, 1]],
  ['an invalid proof', (id: string) => [id, ['x'], 1]],
  ['the proof of another submission', (id: string) => [id, [proofOf('another')], 1]],
  ['a proof that is not a text', (id: string) => [id, [7], 1]],
])('a `dispatched` with %s means look', async (_what, messageOf) => {
  const id = randomUUID();
  const wait = listener.wait(id, 5_000);
  await queues().redis.publish(listener.channel, JSON.stringify(messageOf(id)));
  expect(await wait).toBe('look');
});

test('without a reply the wait ends in time', async () => {
  expect(await listener.wait(randomUUID(), 20)).toBe('timeout');
});

test('a malformed message is ignored, and later replies arrive', async () => {
  const id = randomUUID();
  const wait = listener.wait(id, 5_000);
  for (const message of ['', 'null', '{"a":1}', '[1,null,{}]', '[3]']) {
    await queues().redis.publish(listener.channel, message);
  }
  await publishReplies(queues().redis, listener.channel, [look(id)]);
  expect(await wait).toBe('look');
});

test('replies arrive again after an outage of Redis', async () => {
  const { gate, redis } = queues();
  gate.shut();
  await waitUntil(() => !listener.isListening() && redis.status !== 'ready');
  gate.open();
  await waitUntil(() => listener.isListening() && redis.status === 'ready');
  const id = randomUUID();
  const wait = listener.wait(id, 10_000);
  // The connection is ready a moment before its subscription is renewed.
  await waitUntil(async () => (await redis.publish(listener.channel, JSON.stringify([id]))) === 1);
  expect(await wait).toBe('look');
});

test('a subscription that the access rules refuse is tried again', async () => {
  const { gate, prefix, redis } = queues();
  const [user, password] = [`user-${randomUUID()}`, randomUUID()];
  await redis.call('ACL', 'SETUSER', user, 'on', `>${password}`, '+@all', 'resetchannels');
  const limited = new URL(gate.redisUrl);
  Object.assign(limited, { username: user, password });
  const refused: unknown[] = [];
  const logger = { ...quiet, warn: (fields: unknown) => refused.push(fields) };
  const name = randomUUID();
  const late = createReplyListener({ redisUrl: limited.href, prefix, name, isProof, logger });
  onTestFinished(async () => await late.close());
  await waitUntil(() => refused.length > 0);
  expect(late.isListening()).toBe(false);
  await redis.call('ACL', 'SETUSER', user, 'allchannels');
  expect(await waitUntil(() => late.isListening())).toBe(true);
});

test('closing ends the waits', async () => {
  const wait = listener.wait(randomUUID(), 60_000);
  await listener.close();
  expect(await wait).toBe('timeout');
});
