// CONTRACT 7, "Slots".
export const slotsMaxDefault = 4;
export const slotsMaxMax = 200;
/**
 * A node's `hello` may name this many ids more than its `slotsMax`. The additional ids are
 * submissions whose outcomes the service has not acknowledged.
 */
const unacknowledgedMax = 1_000;

export function slotsOf(node: { readonly requested: number; readonly slotsMax: number }): number {
  return Math.min(node.requested, node.slotsMax);
}

/** The most ids in the member `running` of a node's `hello`. */
export function runningMax(slotsMax: number): number {
  return slotsMax + unacknowledgedMax;
}

// CONTRACT 7, "Assignments".
/**
 * A `start`, `usage` or outcome frame is foreign if its submission is not assigned to the node.
 * More foreign frames than this in `foreignFramesWindowMs` close the link.
 */
export const foreignFramesMax = 100;
export const foreignFramesWindowMs = 60_000;

// CONTRACT 7, "Quarantine".
/**
 * A node is quarantined if this many of its assignments end `not_started` or `node_lost`. The count
 * starts again at 0 when the node reports an outcome other than `node_error`.
 */
export const unfinishedBeforeQuarantine = 3;
/**
 * A node is quarantined if this many of its assignments end `node_error`. The count starts again at
 * 0 when the node reports another outcome.
 */
export const errorsBeforeQuarantine = 5;
/** The lengths of successive quarantines. The last one repeats. */
export const quarantineMs = [60_000, 300_000, 1_800_000, 7_200_000] as const;

export type QuarantineReason = 'unfinished' | 'node_error';

export const quarantineReasons: Readonly<Record<QuarantineReason, string>> = {
  unfinished:
    `${unfinishedBeforeQuarantine} or more assignments ended with not_started or node_lost ` +
    'since the node last reported an outcome other than node_error',
  node_error:
    `${errorsBeforeQuarantine} or more assignments ended with node_error ` +
    'since the node last reported another outcome',
};
