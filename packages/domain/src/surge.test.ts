import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { smoothSurge, steppedSurge, surgeTarget } from './surge.ts';

test.each([
  [0, 0, 1_000_000n],
  [10, 0, 1_000_000n],
  [10, 7, 1_000_000n],
  [100, 71, 1_066_666n],
  [100, 85, 2_000_000n],
  [10, 10, 3_000_000n],
  [10, 12, 3_000_000n],
])('of %d slots, %d busy: surge moves towards %d millionths', (total, busy, micros) => {
  expect(surgeTarget(total, busy)).toBe(micros);
});

describe('smoothing', () => {
  test('moves by the elapsed share of 30 s', () => {
    const step = { currentMicros: 1_000_000n, targetMicros: 3_000_000n };
    expect(smoothSurge({ ...step, elapsedMs: 0 })).toBe(1_000_000n);
    expect(smoothSurge({ ...step, elapsedMs: 3000 })).toBe(1_200_000n);
    expect(smoothSurge({ ...step, elapsedMs: 30_000 })).toBe(3_000_000n);
    expect(smoothSurge({ ...step, elapsedMs: 90_000 })).toBe(3_000_000n);
  });

  test('never leaves the range between the current value and the target', () => {
    const surges = fc.bigInt({ min: 1_000_000n, max: 3_000_000n });
    fc.assert(
      fc.property(surges, surges, fc.nat({ max: 60_000 }), (current, target, elapsedMs) => {
        const next = smoothSurge({ currentMicros: current, targetMicros: target, elapsedMs });
        const [low, high] = current < target ? [current, target] : [target, current];
        expect(next >= low && next <= high).toBe(true);
      }),
    );
  });
});

test.each([
  [1_000_000n, 1_000_000n],
  [1_024_999n, 1_000_000n],
  [1_025_000n, 1_050_000n],
  [2_980_000n, 3_000_000n],
  [3_100_000n, 3_000_000n],
  [500_000n, 1_000_000n],
])('%d is charged in steps of 0.05: %d', (smoothed, stepped) => {
  expect(steppedSurge(smoothed)).toBe(stepped);
});
