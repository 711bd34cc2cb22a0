import { expect, test } from 'vitest';
import {
  afterAttempt,
  breakerTimeoutsMax,
  closedBreaker,
  isProbed,
  type Breaker,
} from './breaker.ts';

const url = 'https://hooks.example.com/';
const timeout = { url, timedOut: true, nextIntervalMs: 5_000, nowMs: 1_000 };

function timeouts(count: number, breaker: Breaker = closedBreaker): Breaker {
  return Array.from({ length: count }).reduce<Breaker>((at) => afterAttempt(at, timeout), breaker);
}

test('a few timeouts in a row do not open the breaker', () => {
  const breaker = timeouts(breakerTimeoutsMax - 1);
  expect(breaker.openUntilMs).toBe(0);
  expect(isProbed(breaker)).toBe(false);
});

test('an endpoint that keeps timing out is paused, at most for the next interval', () => {
  const breaker = timeouts(breakerTimeoutsMax);
  expect(breaker.openUntilMs).toBe(6_000);
  expect(isProbed(breaker)).toBe(true);
  expect(afterAttempt(breaker, { ...timeout, nextIntervalMs: 7_200_000 }).openUntilMs).toBe(31_000);
});

test('any response closes it', () => {
  const open = timeouts(breakerTimeoutsMax + 3);
  const closed = afterAttempt(open, { ...timeout, timedOut: false });
  expect(closed).toEqual({ url, timeouts: 0, openUntilMs: 0 });
});

test('a new URL starts with a closed breaker', () => {
  const open = timeouts(breakerTimeoutsMax);
  const other = afterAttempt(open, { ...timeout, url: 'https://other.example.com/' });
  expect(other).toMatchObject({ timeouts: 1, openUntilMs: 0 });
});
