import { createRandom } from '../../simulation/random.ts';

/** Requests that arrive at a rate, whether or not earlier ones have been answered. */
export interface Schedule {
  readonly perSecond: number;
  readonly seconds: number;
  /** With the same rate and duration, the same seed gives the same instants. */
  readonly seed: number;
}

/**
 * The instants of the requests, in milliseconds from the start, in order. The instants are
 * independent of one another, like the requests of many tenants, so some are close together. They
 * are whole milliseconds, because timers are no finer.
 */
export function arrivalsMs({ perSecond, seconds, seed }: Schedule): number[] {
  const random = createRandom(seed);
  const count = Math.round(perSecond * seconds);
  return Array.from({ length: count }, () => random.nat(seconds * 1_000)).toSorted((a, b) => a - b);
}
