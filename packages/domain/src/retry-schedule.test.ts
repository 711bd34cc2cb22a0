import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { webhookBackoffSecondsDefault } from './limits.ts';
import { attemptsMax, nextAttemptDelayMs, parseBackoffSeconds } from './retry-schedule.ts';

const backoffSeconds = [5, 60, 300, 900, 2400, 7200, 18_000];

describe('the published schedule', () => {
  test('makes 8 attempts over about 8 hours', () => {
    expect(parseBackoffSeconds(webhookBackoffSecondsDefault)).toEqual(backoffSeconds);
    expect(attemptsMax(backoffSeconds)).toBe(8);
    const hours = backoffSeconds.reduce((sum, seconds) => sum + seconds, 0) / 3600;
    expect(hours).toBeCloseTo(8, 0);
  });

  test('is exhausted after the eighth attempt', () => {
    const delays = Array.from({ length: 8 }, (_, index) =>
      nextAttemptDelayMs({ backoffSeconds, attemptNumber: index + 1, jitter: 0.5 }),
    );
    expect(delays).toEqual([...backoffSeconds.map((seconds) => seconds * 1000), undefined]);
  });
});

test.each([
  ['1', [1]],
  ['0.05, 0.1', [0.05, 0.1]],
  ['1,1,1,1,1,1,1', [1, 1, 1, 1, 1, 1, 1]],
  ['1,1,1,1,1,1,1,1', undefined],
  ['', undefined],
  ['1,,2', undefined],
  ['-1', undefined],
  ['1e3', undefined],
  ['five', undefined],
])('the setting %j is parsed as %j', (text, seconds) => {
  expect(parseBackoffSeconds(text)).toEqual(seconds);
});

test('an interval varies by at most a tenth', () => {
  const attempt = { backoffSeconds, attemptNumber: 2 };
  expect(nextAttemptDelayMs({ ...attempt, jitter: 0 })).toBe(54_000);
  expect(nextAttemptDelayMs({ ...attempt, jitter: 1 })).toBe(66_000);
});

describe('Retry-After', () => {
  const attempt = { backoffSeconds, attemptNumber: 2, jitter: 0 };

  test.each([
    [0, 54_000],
    [30, 54_000],
    [90, 90_000],
    [120, 120_000],
    [100_000, 120_000],
  ])('of %d s waits %d ms: only later, and at most twice the interval', (seconds, delayMs) => {
    expect(nextAttemptDelayMs({ ...attempt, retryAfterSeconds: seconds })).toBe(delayMs);
  });

  test('never moves an attempt forward or past twice its interval', () => {
    const asked = fc.double({ min: 0, max: 1e9, noNaN: true });
    const jitters = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 7 }),
        jitters,
        asked,
        (attemptNumber, jitter, after) => {
          const input = { backoffSeconds, attemptNumber, jitter, retryAfterSeconds: after };
          const delayMs = nextAttemptDelayMs(input) ?? 0;
          const intervalMs = (backoffSeconds[attemptNumber - 1] ?? 0) * 1000;
          expect(delayMs).toBeGreaterThanOrEqual(Math.floor(intervalMs * 0.9));
          expect(delayMs).toBeLessThanOrEqual(intervalMs * 2);
        },
      ),
    );
  });
});
