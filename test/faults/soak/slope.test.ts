import { expect, test } from 'vitest';
import { trendOf } from './slope.ts';

function points(valueAt: (minute: number) => number) {
  return Array.from({ length: 61 }, (_, minute) => ({
    atSeconds: minute * 60,
    value: valueAt(minute),
  }));
}

test('a leak of a megabyte a minute is not flat, even with noise', () => {
  const leaking = points((minute) => 120 + minute + (minute % 2) * 8);
  const trend = trendOf({ name: 'gateway 0', unit: 'MiB', points: leaking });
  expect(trend.perHour).toBeCloseTo(60, 0);
  expect(trend.isFlat).toBe(false);
});

test('the sawtooth of a garbage collector is flat, and so is a falling figure', () => {
  const saw = points((minute) => 120 + (minute % 10) * 5);
  expect(trendOf({ name: 'a', unit: 'MiB', points: saw }).isFlat).toBe(true);
  const falling = points((minute) => 200 - minute);
  expect(trendOf({ name: 'a', unit: 'MiB', points: falling }).isFlat).toBe(true);
});

test('one more connection every five minutes is not flat', () => {
  const growing = points((minute) => 10 + Math.floor(minute / 5));
  expect(trendOf({ name: 'a', unit: '', points: growing }).isFlat).toBe(false);
});
