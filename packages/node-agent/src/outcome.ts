import { parseFrameFromNode, type JobResult, type ReportedUsage } from '@svc/contracts';
import { failureMessageLengthMax } from '@svc/domain';
import { JobFailed, type Failure } from './executor.ts';
import type { Outcome } from './journal.ts';

export const restarted: Failure = {
  code: 'node_error',
  message: 'The node restarted while it ran the submission.',
};
export const restartedBeforeSubmit: Failure = {
  code: 'node_error',
  message: 'The node restarted before it submitted the application.',
  submitted: false,
};
export const missingAssignment: Failure = {
  code: 'node_error',
  message: 'The node has no record of the submission, and did not run it.',
};
export const cannotRecordBegin: Failure = {
  code: 'node_error',
  message: 'The node could not write to its disk, and did not run the submission.',
  submitted: false,
};
export const noExecutor: Failure = {
  code: 'node_error',
  message: 'The node cannot run this job type.',
  submitted: false,
};

/**
 * Makes a message valid for the service: well-formed, without U+0000, and cut to
 * `failureMessageLengthMax` code points.
 */
function sendableMessage(message: string): string {
  const characters = Array.from(message.toWellFormed().replaceAll('\0', '\uFFFD'));
  return characters.length <= failureMessageLengthMax
    ? characters.join('')
    : `${characters.slice(0, failureMessageLengthMax - 1).join('')}…`;
}

function isSendable(outcome: Outcome): boolean {
  try {
    return parseFrameFromNode(JSON.stringify(outcome)).kind === 'frame';
  } catch {
    // Some results have no JSON text, for example a result that is circular or nests too deep.
    return false;
  }
}

/**
 * The outcome of a finished job. A result that the service would refuse is reduced to its
 * `confirmationId`, or to nothing: the job is completed in any case.
 */
export function completedOutcome(
  submissionId: string,
  usage: ReportedUsage,
  result: JobResult,
): Outcome {
  const outcome: Outcome = { type: 'completed', submissionId, usage, result };
  if (isSendable(outcome)) return outcome;
  const { confirmationId } = result;
  const confirmed = typeof confirmationId === 'string' ? { confirmationId } : {};
  const cut: Outcome = { type: 'completed', submissionId, usage, result: confirmed };
  return isSendable(cut) ? cut : { type: 'completed', submissionId, usage, result: {} };
}

export function failedOutcome(
  submissionId: string,
  usage: ReportedUsage,
  { message, ...failure }: Failure,
): Outcome {
  return {
    type: 'failed',
    submissionId,
    usage,
    failure: { ...failure, message: sendableMessage(message) },
  };
}

/**
 * The failure that the tenant sees. Any error other than `JobFailed` becomes a `node_error` with a
 * fixed message.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof JobFailed) {
    const { code, message, retriable, submitted } = error;
    return {
      code,
      message,
      ...(retriable === false && { retriable }),
      ...(submitted === false && { submitted }),
    };
  }
  return { code: 'node_error', message: 'The node failed while it ran the submission.' };
}
