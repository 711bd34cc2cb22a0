import type { SubmissionCreated } from '@svc/contracts';
import { creditsToNumber, type SubmissionState, toWireId, wireStatus } from '@svc/domain';
import type { KeyedSubmission } from '@svc/store';
import { type Answer, json, notFound, problem, unavailable } from '../http/answer.ts';

/**
 * The decision about a request whose idempotency key is taken (CONTRACT 3). `wait` and `reject` are
 * about the pending creation that has the key.
 */
export type DuplicateDecision = 'conflict' | 'wait' | 'reject' | 'answer';

export function decideDuplicate(
  found: Pick<KeyedSubmission, 'state' | 'requestHash' | 'overdue'>,
  requestHash: Uint8Array,
): DuplicateDecision {
  if (Buffer.compare(found.requestHash, requestHash) !== 0) return 'conflict';
  if (found.state !== 'pending') return 'answer';
  // An overdue creation is rejected, so that its key is free again.
  return found.overdue ? 'reject' : 'wait';
}

export type CreationState = Pick<
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
 * The answer to a creation. Undefined while the submission is pending. For a replay, `201` becomes
 * `200` with `idempotent` (CONTRACT 3).
 */
export function creationAnswer(
  creation: CreationState,
  { isReplay }: { readonly isReplay: boolean },
): Answer | undefined {
  const { state } = creation;
  if (state === 'pending') return undefined;
  if (state === 'rejected') return dispatchUnavailable;
  // A submission that was cancelled while `pending` was never `dispatched`, so it has no 201.
  if (state === 'cancelled' && !creation.dispatched) return endedAnswer(creation);
  const body = createdBody(creation);
  const logFields = { submissionId: body.submissionId };
  return isReplay
    ? json(200, { ...body, idempotent: true }, logFields)
    : json(201, body, logFields);
}

const dispatchUnavailable = unavailable(
  'dispatch_unavailable',
  'No node took the submission. Its hold is released. Repeat the request after the seconds in `Retry-After`.',
);

export const keyConflict = problem(
  'idempotency_key_conflict',
  'This idempotency key was used before with a different body. Use a new key for a new submission.',
);

function createdBody(creation: CreationState): SubmissionCreated {
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

/**
 * The answer about a submission that has ended: `409 terminal_state`. For a rejected submission the
 * answer is `404`, because no tenant sees rejected submissions.
 */
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

export function refundFigures({
  chargedMicros,
  refundedMicros,
}: {
  readonly chargedMicros: bigint;
  readonly refundedMicros: bigint;
}): { amount: number; charged: number } {
  return { amount: creditsToNumber(refundedMicros), charged: creditsToNumber(chargedMicros) };
}
