import {
  isTerminal,
  type SubmissionState,
  submissionStates,
  transitions,
  wireStatus,
  type WireStatus,
} from '@svc/domain';

/**
 * States in SQL come from the domain's table of transitions. A statement takes them as parameters.
 * Only a condition that must match a partial index has literals (see `roleSettings`). Such
 * conditions are the texts below, which follow the name of the column. No index names the column
 * `state`, so that a change of the state changes no index.
 */

/** Neither settled, cancelled nor rejected: the hold exists. */
export const inFlightStates: readonly SubmissionState[] = submissionStates.filter(
  (state) => !isTerminal(state),
);
/** No outcome is stored, and a cancel is possible. */
export const openStates: readonly SubmissionState[] = transitions.cancel.from;
/** Assigned to a node, without an outcome. */
export const assignedStates: readonly SubmissionState[] = transitions.store_outcome.from;
export const assignedOrSettlingStates: readonly SubmissionState[] = [
  ...assignedStates,
  transitions.store_outcome.to,
];

/** The ids of all submissions in flight, as an array. A trigger keeps the table. */
export const inFlightIds = 'ARRAY(SELECT submission_id FROM submissions_in_flight)';

/** A condition on a submission: its key is taken. A rejected submission has given it back. */
export const holdsItsKey = 'rejected_id IS NULL';

/** The column `ended_otherwise` of a submission that was not rejected. Rejected submissions are not visible to the tenant. */
export const isNotRejected = `IS DISTINCT FROM '${transitions.reject.to}'`;

/** The values of the column `ended_otherwise`, which indexes have instead of the state. */
export const statesOtherwise: readonly SubmissionState[] = submissionStates.filter(
  (state) => isTerminal(state) && state !== transitions.settle_completed.to,
);

/** The column `state` of a submission that has ended. */
export const isEnded = isIn(submissionStates.filter(isTerminal));

/** A condition on a submission: it is in this state. It names the column that an index has. */
export function isInState(state: SubmissionState): string {
  return statesOtherwise.includes(state) ? `ended_otherwise = '${state}'` : `state = '${state}'`;
}

/** The states that a tenant sees as this status. */
export function statesShownAs(status: WireStatus): SubmissionState[] {
  return submissionStates.filter((state) => wireStatus(state) === status);
}

function isIn(states: readonly SubmissionState[]): string {
  return `IN (${states.map((state) => `'${state}'`).join(', ')})`;
}
