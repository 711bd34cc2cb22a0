import { startTestRedis, type TestRedis } from '@svc/testkit';
import type { Redis } from 'ioredis';
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
  // Redis gets these calls in batches of at most 64.
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
  const slow = { perSecond: 49, burst: 1 };
  expect(await limit.take('slow', slow)).toMatchObject({ allowed: true });
  expect(await redis.pttl('{svc}:rate:slow')).toBeLessThanOrEqual(1_021);
  const fast = { perSecond: 1_000_000, burst: 1 };
  expect(await limit.take('fast', fast)).toMatchObject({ allowed: true });
  expect(await limit.take('fast', fast)).toMatchObject({ allowed: true });
  const expiresInMs = await redis.pttl('{svc}:rate:fast');
  expect(expiresInMs).toBeGreaterThan(0);
  // This gateway has the lease of the bucket for `aheadLeaseMs` (10 s), so Redis must keep the key.
  // The key expires one second after the lease ends.
  expect(expiresInMs).toBeLessThanOrEqual(11_000);
  await close();
});

const storedTokens = async (redis: Redis, name: string) =>
  Number(await redis.hget(`{svc}:rate:${name}`, 'tokens'));

test('a gateway that took a token before gives the next one without a wait, and Redis learns of it', async () => {
  const { redis, limit, close } = await limiter(server.redisUrl);
  const hundred = { perSecond: 100, burst: 200 };
  await limit.take('known', hundred);
  const takenAt = await redis.hget('{svc}:rate:known', 'at');
  let hasTurnEnded = false;
  setImmediate(() => (hasTurnEnded = true));
  expect(await limit.take('known', hundred)).toMatchObject({ allowed: true });
  expect(hasTurnEnded).toBe(false);
  // This call waits for Redis. Redis takes tokens in the order of the calls, so it takes the token
  // of the previous call before this call resolves.
  await limit.take('unknown', hundred);
  expect(await redis.hget('{svc}:rate:known', 'at')).not.toBe(takenAt);
  await close();
});

test('all gateways together give at most 20 ms worth too much, and the bucket owes it', async () => {
  const gateways = await Promise.all([1, 2, 3].map(() => limiter(server.redisUrl)));
  const hundred = { perSecond: 100, burst: 40 };
  for (const { limit } of gateways) await limit.take('joint', { ...hundred, burst: 43 });
  const startedMs = performance.now();
  const takings = gateways.flatMap(({ limit }) =>
    Array.from({ length: 30 }, () => limit.take('joint', hundred)),
  );
  const decisions = await Promise.all(takings);
  const refilled = ((performance.now() - startedMs) * hundred.perSecond) / 1000;
  const given = decisions.filter(({ allowed }) => allowed).length;
  expect(given).toBeGreaterThanOrEqual(40);
  expect(given).toBeLessThanOrEqual(42 + refilled);
  await Promise.all(gateways.map(({ close }) => close()));
});

test('a bucket that another gateway has emptied owes what was given ahead of it', async () => {
  const [one, other] = [await limiter(server.redisUrl), await limiter(server.redisUrl)];
  const hundred = { perSecond: 100, burst: 200 };
  await one.limit.take('owed', hundred);
  await other.redis.hset('{svc}:rate:owed', 'tokens', '-50');
  const decisions = [];
  for (let count = 0; count < 4; count += 1) decisions.push(one.limit.take('owed', hundred));
  const allowed = (await Promise.all(decisions)).map((decision) => decision.allowed);
  expect(allowed).toEqual([true, true, false, false]);
  expect(await storedTokens(one.redis, 'owed')).toBeLessThan(-40);
  const refused = await other.limit.take('owed', hundred);
  expect(refused).toMatchObject({ allowed: false, left: 0 });
  expect(refused.retryInMs).toBeGreaterThan(300);
  await Promise.all([one.close(), other.close()]);
});

test('one gateway at a time runs ahead, until its lease has ended', async () => {
  const [one, other] = [await limiter(server.redisUrl), await limiter(server.redisUrl)];
  const hundred = { perSecond: 100, burst: 200 };
  const holder = () => one.redis.hget('{svc}:rate:leased', 'ahead');
  await one.limit.take('leased', hundred);
  const first = await holder();
  await other.limit.take('leased', hundred);
  expect(await holder()).toBe(first);
  await one.redis.hset('{svc}:rate:leased', 'aheadUntil', '1');
  await other.limit.take('leased', hundred);
  expect(await holder()).not.toBe(first);
  await Promise.all([one.close(), other.close()]);
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
