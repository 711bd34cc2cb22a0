import { startTestRedis, type TestRedis } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLocalBuckets, createRateLimiter } from './rate-limit.ts';
import { closeRedis, connectRedis, waitForRedis } from './redis.ts';

let server: TestRedis;
beforeAll(async () => {
  server = await startTestRedis();
});
afterAll(() => server.close());

const policy = { perSecond: 0.001, burst: 3 };

async function limiter(redisUrl: string) {
  const redis = connectRedis(redisUrl, 'producer');
  await waitForRedis(redis, 1_000);
  const limit = createRateLimiter({ redis, prefix: 'svc', monotonicMs: () => 0 });
  return { redis, limit, close: () => closeRedis(redis) };
}

test('gateways share one bucket: a token that one takes is gone for the other', async () => {
  const [one, other] = [await limiter(server.redisUrl), await limiter(server.redisUrl)];
  expect(await one.limit.take('a', policy)).toMatchObject({ allowed: true, left: 2, retryInMs: 0 });
  expect(await other.limit.take('a', policy)).toMatchObject({ allowed: true, left: 1 });
  expect(await one.limit.take('a', policy)).toMatchObject({ allowed: true, left: 0 });
  const refused = await other.limit.take('a', policy);
  expect(refused).toMatchObject({ allowed: false, left: 0 });
  expect(refused.retryInMs).toBeGreaterThan(900_000);
  expect(refused.retryInMs).toBeLessThanOrEqual(1_000_000);
  expect(refused.fullInMs).toBeGreaterThan(2_900_000);
  expect(await one.limit.take('b', policy)).toMatchObject({ allowed: true, left: 2 });
  await Promise.all([one.close(), other.close()]);
});

test('concurrent calls never take more tokens than the bucket has', async () => {
  const { limit, close } = await limiter(server.redisUrl);
  const decisions = await Promise.all(
    Array.from({ length: 20 }, () => limit.take('many', { perSecond: 0.001, burst: 7 })),
  );
  expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(7);
  await close();
});

test('concurrent calls are answered in their order, each by its own bucket and policy', async () => {
  const { limit, close } = await limiter(server.redisUrl);
  const other = { perSecond: 0.001, burst: 2 };
  // More calls than one message takes.
  const decisions = await Promise.all(
    Array.from({ length: 150 }, (_, index) =>
      index % 50 === 0 ? limit.take('odd', other) : limit.take(`even ${index % 50}`, policy),
    ),
  );
  const odd = decisions.filter((_, index) => index % 50 === 0);
  expect(odd.map(({ allowed, left }) => [allowed, left])).toEqual([
    [true, 1],
    [true, 0],
    [false, 0],
  ]);
  const evenOnes = decisions.filter((_, index) => index % 50 === 7);
  expect(evenOnes.map(({ left }) => left)).toEqual([2, 1, 0]);
  await close();
});

test('a bucket fills again, and its key expires', async () => {
  const { redis, limit, close } = await limiter(server.redisUrl);
  const fast = { perSecond: 1_000_000, burst: 1 };
  expect(await limit.take('fast', fast)).toMatchObject({ allowed: true });
  expect(await limit.take('fast', fast)).toMatchObject({ allowed: true });
  const expiresInMs = await redis.pttl('{svc}:rate:fast');
  expect(expiresInMs).toBeGreaterThan(0);
  expect(expiresInMs).toBeLessThanOrEqual(1_001);
  await close();
});

test('without Redis each gateway uses its own buckets', async () => {
  const gone = await startTestRedis();
  const { limit, close } = await limiter(gone.redisUrl);
  await limit.take('a', policy);
  await gone.close();
  const taken = [];
  for (let count = 0; count < 4; count += 1) taken.push(await limit.take('a', policy));
  expect(taken.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
  await close();
});

test('the number of local buckets is limited, and the least recently used one is dropped', () => {
  const buckets = createLocalBuckets(2);
  for (const name of ['a', 'b', 'a', 'c']) buckets.take(name, policy, 0);
  expect(buckets.take('a', policy, 0).left).toBe(0);
  expect(buckets.take('b', policy, 0).left).toBe(2);
});
