import { createHash } from 'node:crypto';
import type { Mutant } from './mutant.ts';

/**
 * Chooses `n` of the mutants. The rank of a mutant depends only on the seed and its id. A change of
 * the code therefore keeps most of the sample.
 */
export function sample(mutants: readonly Mutant[], seed: number, n: number): Mutant[] {
  const rank = ({ id }: Mutant) => createHash('sha256').update(`${seed}:${id}`).digest('hex');
  return mutants
    .map((mutant) => ({ mutant, rank: rank(mutant) }))
    .toSorted((one, other) => (one.rank < other.rank ? -1 : 1))
    .slice(0, n)
    .map(({ mutant }) => mutant);
}

/**
 * Distributes `n` mutants over the rooms as evenly as possible. `counts` has the number of mutants
 * of each room, and a room gets at most this number.
 */
export function shares(counts: readonly number[], n: number): number[] {
  const given = counts.map(() => 0);
  for (
    let left = Math.min(
      n,
      counts.reduce((sum, count) => sum + count, 0),
    );
    left > 0;
  ) {
    for (const [at, count] of counts.entries()) {
      if (left === 0 || (given[at] ?? 0) >= count) continue;
      given[at] = (given[at] ?? 0) + 1;
      left -= 1;
    }
  }
  return given;
}
