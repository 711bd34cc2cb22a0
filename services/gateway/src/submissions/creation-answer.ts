import type { SubmissionCreated } from '@svc/contracts';
import { creditsToNumber, type SubmissionState, toWireId, wireStatus } from '@svc/domain';
import type { KeyedSubmission } from '@svc/store';
import { type Answer, json, notFound, problem, unavailable } from '../http/answer.ts';

/** What a creation, its replays and its duplicates are answered. No I/O. */

/**
 * What to do with a request whose key is taken (CONTRACT 3). `wait`: it is held and not
 * yet dispatched, its outcome is this request's outcome too. `reject`: nobody has rejected it in
 * time; once that is done its key is free.
 */
export type DuplicateDecision = 'conflict' | 'wait' | 'reject' | 'answer';

export function decideDuplicate(
  found: Pick<KeyedSubmission, 'state' | 'requestHash' | 'overdue'>,
  requestHash: Uint8Array,
): DuplicateDecision {
  if (Buffer.compare(found.requestHash, requestHash) !== 0) return 'conflict';
  if (found.state !== 'pending') return 'answer';
  return found.overdue ? 'reject' : 'wait';
}

export type StandingCreation = Pick<
  KeyedSubmission,
  | 'id'
  | 'state'
  | 'dispatched'
  | 'quote'
  | 'availableAfterMicros'
  | 'chargedMicros'
  | 'refundedMicros'
>;

/**
 * The answer to a creation by how its submission stands; undefined while it is pending. Whoever
 * asks, first or again, gets the same one, but for `201` and `200`.
 */
export function creationAnswer(
  creation: StandingCreation,
  { isReplay }: { readonly isReplay: boolean },
): Answer | undefined {
  const { state } = creation;
  if (state === 'pending') return undefined;
  if (state === 'rejected') return dispatchUnavailable;
  // Cancelled while it was pending: it never was `dispatched`, so there is no 201 to repeat.
  if (state === 'cancelled' && !creation.dispatched) return endedAnswer(creation);
  const body = createdBody(creation);
  const logFields = { submissionId: body.submissionId };
  return isReplay
    ? json(200, { ...body, idempotent: true }, logFields)
    : json(201, body, logFields);
}

const dispatchUnavailable = unavailable(
  'dispatch_unavailable',
  'No node can take the submission now; its hold is released.',
);

export const keyConflict = problem(
  'idempotency_key_conflict',
  'This idempotency key was used before with a different body.',
);

function createdBody(creation: StandingCreation): SubmissionCreated {
  const { quote } = creation;
  return {
    submissionId: toWireId('sub', creation.id),
    status: 'dispatched',
    quote: {
      estimated: creditsToNumber(quote.estimatedMicros),
      max: creditsToNumber(quote.maxMicros),
      surge: creditsToNumber(quote.surgeMicros),
    },
    balance: {
      after: creditsToNumber(creation.availableAfterMicros),
      held: creditsToNumber(quote.maxMicros),
    },
  };
}

/** `409 terminal_state`, with the refund where it was a cancel that ended it. */
export function endedAnswer(ended: {
  readonly id: string;
  readonly state: SubmissionState;
  readonly chargedMicros: bigint | null;
  readonly refundedMicros: bigint | null;
}): Answer {
  const { chargedMicros, refundedMicros } = ended;
  const submissionStatus = wireStatus(ended.state);
  if (submissionStatus === null) return notFound;
  const isCancelled = submissionStatus === 'cancelled';
  const refund =
    isCancelled && chargedMicros !== null && refundedMicros !== null
      ? { refund: refundFigures({ chargedMicros, refundedMicros }) }
      : {};
  const submissionId = toWireId('sub', ended.id);
  return problem('terminal_state', `The submission has ended: it is ${submissionStatus}.`, {
    submissionId,
    submissionStatus,
    ...refund,
  });
}

/** What a cancel gave back, and what it charged. */
export function refundFigures({
  chargedMicros,
  refundedMicros,
}: {
  readonly chargedMicros: bigint;
  readonly refundedMicros: bigint;
}): { amount: number; charged: number } {
  return { amount: creditsToNumber(refundedMicros), charged: creditsToNumber(chargedMicros) };
}
