import type { Pace } from './catalogue/fault.ts';
import type { WorldSize } from './world/types.ts';

/** Two of each service, the least that production runs (infra/kubernetes/base/scaling.yaml). */
export const size: WorldSize = {
  counts: { gateway: 2, dispatcher: 2, settlement: 2, webhooks: 2 },
  nodes: 3,
  slotsPerNode: 60,
};

/**
 * Two of each service that tenants or nodes connect to, and one of each other service. A machine
 * with two cores starts these processes in seconds.
 */
export const shortSize: WorldSize = {
  counts: { gateway: 2, dispatcher: 2, settlement: 1, webhooks: 1 },
  nodes: 2,
  slotsPerNode: 60,
};

export const longPace: Pace = { lastsMs: [300, 6_000], pauseMs: 10_000 };

/** The pace of short runs, such as that of `faults.test.ts`. */
export const shortPace: Pace = { lastsMs: [150, 600], pauseMs: 900 };
