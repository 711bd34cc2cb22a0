import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { missingDependencies, readinessTimeoutMs } from './readiness.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a check that is false, throws, rejects or is too slow makes its dependency missing', async () => {
  const missing = missingDependencies({
    yes: () => true,
    answers: () => Promise.resolve(),
    no: () => false,
    laterNo: () => Promise.resolve(false),
    throws() {
      throw new Error('no');
    },
    rejects: () => Promise.reject(new Error('no')),
    hangs: () => new Promise(() => {}),
  });
  await vi.advanceTimersByTimeAsync(readinessTimeoutMs);
  expect(await missing).toEqual(['no', 'laterNo', 'throws', 'rejects', 'hangs']);
  expect(vi.getTimerCount()).toBe(0);
});
