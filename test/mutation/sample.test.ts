import { expect, it } from 'vitest';
import { mutantsOf } from './generate.ts';
import { rooms } from './rooms.ts';
import { checkout } from './run/test-files.ts';
import { sample, shares } from './sample.ts';

const [domain] = rooms;
if (domain === undefined) throw new Error('there are no rooms');
const all = mutantsOf(checkout, domain);

const ids = (seed: number) => sample(all, seed, 20).map(({ id }) => id);

it('one seed always gives the same sample, and another seed another one', () => {
  expect(ids(1)).toStrictEqual(ids(1));
  expect(ids(1)).not.toStrictEqual(ids(2));
});

it('removed mutants change a sample only by their own places', () => {
  const before = sample(all, 1, 20);
  const [gone] = before;
  const after = sample(
    all.filter((mutant) => mutant !== gone),
    1,
    20,
  );
  expect(after.slice(0, 19)).toStrictEqual(before.slice(1));
});

it('a sample is distributed evenly among rooms, and no room gives more than it has', () => {
  expect(shares([100, 3, 100], 20)).toStrictEqual([9, 3, 8]);
  expect(shares([1, 2], 20)).toStrictEqual([1, 2]);
});
