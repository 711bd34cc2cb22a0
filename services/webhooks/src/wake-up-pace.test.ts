import { expect, test } from 'vitest';
import { createWakeUpPace } from './wake-up-pace.ts';

function pausesOf(sizes: readonly number[], everyMs: number): number[] {
  let nowMs = 0;
  const pace = createWakeUpPace(() => nowMs);
  return sizes.map((size) => {
    nowMs += everyMs;
    return pace.pauseMs(size);
  });
}

const sizes = (size: number, count: number) => Array.from({ length: count }, () => size);

test('at a hundred tenants a second the deliverer never pauses', () => {
  expect(new Set(pausesOf(sizes(1, 1_000), 10))).toEqual(new Set([0]));
});

test('at seven hundred tenants a second it pauses after every job, also after a small one', () => {
  const uneven = Array.from({ length: 1_000 }, (_, index) => [26, 2, 14][index % 3] ?? 0);
  expect(new Set(pausesOf(uneven, 20))).toEqual(new Set([20]));
});

test('a tenth of a second after many tenants it does not pause any more', () => {
  expect(pausesOf([64, ...sizes(1, 10)], 20)).toEqual([20, 20, 20, 20, 20, 0, 0, 0, 0, 0, 0]);
});
