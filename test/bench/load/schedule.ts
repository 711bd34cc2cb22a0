import { createRandom } from '../../simulation/random.ts';

/** Requests that arrive at a rate, whether or not earlier ones have been answered. */
export interface Schedule {
  readonly perSecond: number;
  readonly seconds: number;
  /** Schedules with the same rate, duration and seed have their requests at the same instants. */
  readonly seed: number;
}

/**
 * The sorted instants of the requests, in whole milliseconds from the start. They are independent
 * of one another, like the requests of many tenants.
 */
export function arrivalsMs({ perSecond, seconds, seed }: Schedule): number[] {
  const random = createRandom(seed);
  const count = Math.round(perSecond * seconds);
  return Array.from({ length: count }, () => random.nat(seconds * 1_000)).toSorted((a, b) => a - b);
}
