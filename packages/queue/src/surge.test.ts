import { beforeEach, expect, test } from 'vitest';
import { createSurgeBoard, readPublishedSurge, surgePublishedMs } from './index.ts';
import { useRedis } from './queue-harness.fixture.ts';

const { redis } = await useRedis();

beforeEach(async () => {
  await redis.flushall();
});

test('only one of several concurrent publications succeeds, and the others continue from it', async () => {
  const boards = Array.from({ length: 5 }, () => createSurgeBoard({ redis, prefix: 'test' }));
  const { smoothed: after, nowMs } = await boards[0]!.read();
  expect(after).toBeNull();
  const published = await Promise.all(
    boards.map((board, index) =>
      board.publish({
        after,
        smoothed: { micros: 1_000_000n + BigInt(index), atMs: nowMs },
        multiplierMicros: 1_050_000n,
      }),
    ),
  );
  expect(published).toEqual([true, false, false, false, false]);
  expect(await readPublishedSurge(redis, 'test')).toBe('1050000');
  const { smoothed } = await boards[1]!.read();
  expect(smoothed).toEqual({ micros: 1_000_000n, atMs: nowMs });
  const next = { after: smoothed, smoothed: { micros: 2_000_000n, atMs: nowMs + 1 } };
  expect(await boards[1]!.publish({ ...next, multiplierMicros: 2_000_000n })).toBe(true);
  expect(await readPublishedSurge(redis, 'test')).toBe('2000000');
});

test('a multiplier that is not published again expires', async () => {
  const board = createSurgeBoard({ redis, prefix: 'test' });
  const { nowMs } = await board.read();
  const smoothed = { micros: 3_000_000n, atMs: nowMs };
  await board.publish({ after: null, smoothed, multiplierMicros: 3_000_000n });
  const keptMs = await redis.pttl('{test}:surge');
  expect(keptMs).toBeGreaterThan(0);
  expect(keptMs).toBeLessThanOrEqual(surgePublishedMs);
});
