import { expect, test } from 'vitest';
import { reconnectDelayMs } from './backoff.ts';

const broken = { closeCode: 1006 };

test('the delay doubles up to 15 s, and its jitter can reduce it to zero', () => {
  expect([0, 1, 2, 5, 9].map((attempt) => reconnectDelayMs(broken, attempt, 1))).toEqual([
    500, 1_000, 2_000, 15_000, 15_000,
  ]);
  expect(reconnectDelayMs(broken, 9, 0)).toBe(0);
});

test('after a draining dispatcher closes a link, the delay is at most one second', () => {
  expect(reconnectDelayMs({ closeCode: 1012 }, 5, 1)).toBe(1_000);
});

test('an end that only a person can fix has the longest delay', () => {
  expect(reconnectDelayMs({ closeCode: 4001 }, 0, 0)).toBe(15_000);
  expect(reconnectDelayMs({ closeCode: 1006, refusedStatus: 401 }, 0, 0)).toBe(15_000);
  expect(reconnectDelayMs({ closeCode: 1006, refusedStatus: 503 }, 0, 1)).toBe(500);
});
