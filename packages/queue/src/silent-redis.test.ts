import { startTestRedis, waitUntil } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { createRedisGate } from './redis-gate.fixture.ts';
import { closeRedis, connectRedis, pingRedis, type RedisRole, waitForRedis } from './redis.ts';

const boundMs = 15_000;

async function connectThroughGate(role: RedisRole) {
  const server = await startTestRedis();
  const gate = await createRedisGate(server.redisUrl);
  const redis = connectRedis(gate.redisUrl, role);
  const direct = connectRedis(server.redisUrl, 'producer');
  onTestFinished(async () => {
    await Promise.all([closeRedis(redis), closeRedis(direct)]);
    await gate.close();
    await server.close();
  });
  await Promise.all([waitForRedis(redis, boundMs), waitForRedis(direct, boundMs)]);
  return { gate, redis, direct };
}

test('a producer whose packets are dropped reports it, and replaces its connection', async () => {
  const { gate, redis } = await connectThroughGate('producer');
  await pingRedis(redis);
  gate.freeze();
  await expect(pingRedis(redis)).rejects.toThrow('timed out');
  const isBack = () =>
    pingRedis(redis).then(
      () => true,
      () => false,
    );
  expect(await waitUntil(isBack, { timeoutMs: boundMs })).toBe(true);
}, 30_000);

test('a subscriber whose packets are dropped receives messages again', async () => {
  const { gate, redis, direct } = await connectThroughGate('subscriber');
  const received: string[] = [];
  redis.on('message', (_channel: string, message: string) => received.push(message));
  await redis.subscribe('news');
  gate.freeze();
  const arrives = async () => {
    await direct.publish('news', 'after');
    return received.includes('after');
  };
  expect(await waitUntil(arrives, { timeoutMs: boundMs })).toBe(true);
}, 30_000);
