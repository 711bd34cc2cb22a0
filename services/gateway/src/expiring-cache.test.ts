import { expect, test } from 'vitest';
import { createExpiringCache } from './expiring-cache.ts';

function setUp(entriesMax = 2) {
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs };
  const loads: string[] = [];
  let fails = false;
  const cache = createExpiringCache({
    load: async (key) => {
      loads.push(key);
      if (fails) throw new Error('no database');
      return await Promise.resolve(`${key}${loads.length}`);
    },
    ttlMs: 3000,
    entriesMax,
    clock,
  });
  return { clock, loads, cache, fail: (yes: boolean) => (fails = yes) };
}

test('a value is loaded once within its TTL, and again after it', async () => {
  const { clock, cache } = setUp();
  expect(await cache.get('a')).toBe('a1');
  clock.nowMs = 2999;
  expect(await cache.get('a')).toBe('a1');
  clock.nowMs = 3000;
  expect(await cache.get('a')).toBe('a2');
});

test('concurrent callers share one load', async () => {
  const { loads, cache } = setUp();
  await Promise.all([cache.get('a'), cache.get('a'), cache.get('a')]);
  expect(loads).toEqual(['a']);
});

test('a failed load is not cached', async () => {
  const { cache, fail } = setUp();
  fail(true);
  await expect(cache.get('a')).rejects.toThrow('no database');
  fail(false);
  expect(await cache.get('a')).toBe('a2');
});

test('a caller decides how old a value may be', async () => {
  const { clock, cache } = setUp();
  expect(await cache.get('a')).toBe('a1');
  clock.nowMs = 1e9;
  expect(await cache.get('a', Infinity)).toBe('a1');
  expect(await cache.get('a', 0)).toBe('a2');
  expect(await cache.get('a')).toBe('a2');
});

test('a load that began earlier does not replace the value of a later one', async () => {
  const first = Promise.withResolvers<string>();
  const values = [first.promise, Promise.resolve('new')];
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs };
  const cache = createExpiringCache({
    load: async () => (await values.shift()) ?? 'loaded again',
    ttlMs: 3000,
    entriesMax: 2,
    clock,
  });
  const earlier = cache.get('a');
  clock.nowMs = 10;
  expect(await cache.get('a', 0)).toBe('new');
  first.resolve('old');
  expect(await earlier).toBe('old');
  expect(await cache.get('a')).toBe('new');
});

test('the number of values is limited, and the least recently used one is evicted', async () => {
  const { loads, cache } = setUp(2);
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await cache.get(key);
  expect(loads).toEqual(['a', 'b', 'c', 'b']);
});

test('absent values are cached too, with their own limit, and evict no present ones', async () => {
  const loads: string[] = [];
  const cache = createExpiringCache({
    load: async (key) => {
      loads.push(key);
      return await Promise.resolve(key.startsWith('no') ? null : key);
    },
    ttlMs: 3000,
    entriesMax: 1,
    isAbsent: (value) => value === null,
    absentMax: 2,
    clock: { monotonicMs: () => 0 },
  });
  for (const key of ['a', 'no1', 'no2', 'no3', 'a', 'no3', 'no1']) await cache.get(key);
  expect(loads).toEqual(['a', 'no1', 'no2', 'no3', 'no1']);
});
