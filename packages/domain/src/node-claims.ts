/** What a node may claim, and how long one that does not finish its jobs is kept from more. */

// CONTRACT 7, "Slots".
export const slotsMaxDefault = 4;
export const slotsMaxMax = 200;
/** Beyond its slots, the ids that a node's `hello` may name: outcomes not yet acknowledged. */
const unacknowledgedMax = 1_000;

/** How many slots a node has. */
export function slotsOf(node: { readonly wished: number; readonly slotsMax: number }): number {
  return Math.min(node.wished, node.slotsMax);
}

/** How many ids the `running` of its `hello` may have. */
export function runningMax(slotsMax: number): number {
  return slotsMax + unacknowledgedMax;
}

// CONTRACT 7, "Assignments".
/** More frames in this time that name submissions which are not the node's close its link. */
export const foreignFramesMax = 100;
export const foreignFramesWindowMs = 60_000;

// CONTRACT 7, "Quarantine".
/** So many assignments that ended `not_started` or `node_lost` quarantine their node. */
export const unfinishedBeforeQuarantine = 3;
/** So many that ended `node_error` do. */
export const errorsBeforeQuarantine = 5;
/** How long the first quarantine lasts, and each after a further failure; the last one repeats. */
export const quarantineMs = [60_000, 300_000, 1_800_000, 7_200_000] as const;

export type QuarantineReason = 'unfinished' | 'node_error';

/** For operators. */
export const quarantineReasons: Readonly<Record<QuarantineReason, string>> = {
  unfinished: `${unfinishedBeforeQuarantine} or more assignments ended not_started or node_lost`,
  node_error: `${errorsBeforeQuarantine} or more assignments ended node_error`,
};
