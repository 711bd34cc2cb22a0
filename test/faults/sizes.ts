import type { Pace } from './catalogue/fault.ts';
import type { WorldSize } from './world/types.ts';

/** Two of each service, as in production. */
export const size: WorldSize = {
  counts: { gateway: 2, dispatcher: 2, settlement: 2, webhooks: 2 },
  nodes: 3,
  slotsPerNode: 60,
};

/**
 * Two of each service that holds connections of others. A machine with two cores starts this in
 * seconds.
 */
export const shortSize: WorldSize = {
  counts: { gateway: 2, dispatcher: 2, settlement: 1, webhooks: 1 },
  nodes: 2,
  slotsPerNode: 60,
};

export const longPace: Pace = { lastsMs: [300, 6_000], pauseMs: 10_000 };

/** For the run that every change must pass: the same faults at a faster pace. */
export const shortPace: Pace = { lastsMs: [150, 600], pauseMs: 900 };
