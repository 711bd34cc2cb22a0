/** A source of pseudorandom numbers (mulberry32). The same seed gives the same sequence. */
export interface Random {
  /** An integer from 0 to `below` - 1. */
  readonly nat: (below: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(values: readonly T[]) => T | undefined;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    nat: (below) => Math.floor(next() * below),
    chance: (probability) => next() < probability,
    pick: (values) => values[Math.floor(next() * values.length)],
  };
}
