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
 * Only a condition that must match a partial index has literals (see `plannerOptions`). Such
 * conditions are the texts below, which follow the name of the column.
 */

/** Neither settled, cancelled nor rejected: the hold exists. */
export const inFlightStates: readonly SubmissionState[] = submissionStates.filter(
  (state) => !isTerminal(state),
);
/** No outcome is stored, and a cancel is possible. */
export const openStates: readonly SubmissionState[] = transitions.cancel.from;
/** Assigned to a node, without an outcome. */
export const assignedStates: readonly SubmissionState[] = transitions.store_outcome.from;

/** Rejected submissions are not visible to the tenant and have given their key back. */
export const isNotRejected = `<> '${transitions.reject.to}'`;
export const isInFlight = isIn(inFlightStates);
export const isAssigned = isIn(assignedStates);
export const isAssignedOrSettling = isIn([...assignedStates, transitions.store_outcome.to]);
export const isEnded = isIn(submissionStates.filter(isTerminal));

/** Visible to the tenant with this status. */
export function isShownAs(status: WireStatus): string {
  return isIn(submissionStates.filter((state) => wireStatus(state) === status));
}

function isIn(states: readonly SubmissionState[]): string {
  return `IN (${states.map((state) => `'${state}'`).join(', ')})`;
}
