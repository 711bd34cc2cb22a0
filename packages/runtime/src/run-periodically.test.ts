import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLogger } from './logger.ts';
import { runPeriodically } from './run-periodically.ts';

const logger = createLogger({ service: 'test', level: 'silent' });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('runs never overlap: the next one starts an interval after the end of the last', async () => {
  let started = 0;
  const running: (() => void)[] = [];
  const repeating = runPeriodically({
    name: 'test',
    intervalMs: 100,
    logger,
    run() {
      started += 1;
      return new Promise((resolve) => {
        running.push(resolve);
      });
    },
  });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(started).toBe(1);
  running.pop()?.();
  await vi.advanceTimersByTimeAsync(99);
  expect(started).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(started).toBe(2);
  running.pop()?.();
  await repeating.close();
});

test('a failed run does not stop the following runs', async () => {
  let rounds = 0;
  const repeating = runPeriodically({
    name: 'test',
    intervalMs: 100,
    logger,
    run() {
      rounds += 1;
      throw new Error('no');
    },
  });
  await vi.advanceTimersByTimeAsync(350);
  expect(rounds).toBe(3);
  await repeating.close();
});

test('close waits for the current run and starts no other', async () => {
  let finished = false;
  const running = Promise.withResolvers<void>();
  const repeating = runPeriodically({
    name: 'test',
    intervalMs: 100,
    logger,
    async run() {
      await running.promise;
      finished = true;
    },
  });
  await vi.advanceTimersByTimeAsync(100);
  const closed = repeating.close();
  running.resolve();
  await closed;
  expect(finished).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});
