import { expect, test } from 'vitest';
import { hasHeadroom } from './headroom.ts';
import type { Tier } from './rate-card.ts';

test.each<[Tier, number, number, boolean]>([
  ['standard', 4, 1, true],
  ['standard', 9, 1, true],
  ['standard', 10, 1, false],
  ['standard', 10, 2, true],
  ['standard', 100, 10, false],
  ['standard', 100, 11, true],
  ['priority', 33, 1, true],
  ['priority', 34, 1, false],
  ['priority', 100, 3, false],
  ['priority', 100, 4, true],
  ['instant', 100, 1, true],
  ['instant', 100, 0, false],
  ['standard', 0, 0, false],
  ['instant', 0, 0, false],
])('%s, with %d slots of which %d are free: %s', (tier, slotsTotal, slotsFree, expected) => {
  expect(hasHeadroom(tier, slotsTotal, slotsFree)).toBe(expected);
});
