import {
  isTerminal,
  type SubmissionState,
  submissionStates,
  transitions,
  wireStatus,
  type WireStatus,
} from '@svc/domain';

/**
 * The states of submissions for SQL (decision 25). Indexes use the column `ended_otherwise` instead
 * of `state`, because `state` changes often (decision 29).
 */

/** The states in which the hold exists: the submission has not ended. */
export const inFlightStates: readonly SubmissionState[] = submissionStates.filter(
  (state) => !isTerminal(state),
);
/** The states in which no outcome is stored and a cancel is possible. */
export const openStates: readonly SubmissionState[] = transitions.cancel.from;
/** The states of a submission in flight that is assigned to a node and has no outcome. */
export const assignedStates: readonly SubmissionState[] = transitions.store_outcome.from;
export const assignedOrSettlingStates: readonly SubmissionState[] = [
  ...assignedStates,
  transitions.store_outcome.to,
];

/**
 * SQL for an array of the ids of all submissions in flight. Triggers keep the table
 * `submissions_in_flight` up to date.
 */
export const inFlightIds = 'ARRAY(SELECT submission_id FROM submissions_in_flight)';

/**
 * An SQL condition that is true if a submission still has its idempotency key. A rejection frees
 * the key.
 */
export const holdsItsKey = 'rejected_id IS NULL';

/**
 * SQL to write after the column `ended_otherwise`. The condition is true if the submission was not
 * rejected. Tenants do not see rejected submissions.
 */
export const isNotRejected = `IS DISTINCT FROM '${transitions.reject.to}'`;

/**
 * The values of the column `ended_otherwise`: all ended states except `submitted`. In every other
 * state the column is null.
 */
export const statesOtherwise: readonly SubmissionState[] = submissionStates.filter(
  (state) => isTerminal(state) && state !== transitions.settle_completed.to,
);

/** SQL to write after the column `state`. The condition is true if the submission has ended. */
export const isEnded = isIn(submissionStates.filter(isTerminal));

/**
 * An SQL condition that is true if a submission is in this state. It can use an index if the state
 * is one of `statesOtherwise`.
 */
export function isInState(state: SubmissionState): string {
  return statesOtherwise.includes(state) ? `ended_otherwise = '${state}'` : `state = '${state}'`;
}

export function statesShownAs(status: WireStatus): SubmissionState[] {
  return submissionStates.filter((state) => wireStatus(state) === status);
}

function isIn(states: readonly SubmissionState[]): string {
  return `IN (${states.map((state) => `'${state}'`).join(', ')})`;
}
