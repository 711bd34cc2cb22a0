import { parseFrameFromNode, type JobResult, type ReportedUsage } from '@svc/contracts';

import { JobFailed, type Failure } from './executor.ts';
import type { Outcome } from './journal.ts';

const messageLengthMax = 512;

/** Made such that the service takes it: well-formed, without U+0000, cut by code points. */
function sendableMessage(message: string): string {
  const characters = Array.from(message.toWellFormed().replaceAll('\0', '\uFFFD'));
  return characters.length <= messageLengthMax
    ? characters.join('')
    : `${characters.slice(0, messageLengthMax - 1).join('')}…`;
}

function isSendable(outcome: Outcome): boolean {
  try {
    return parseFrameFromNode(JSON.stringify(outcome)).kind === 'frame';
  } catch {
    // A result that is circular or nests too deep has no JSON text.
    return false;
  }
}

/**
 * The outcome of work that was done. A result that is against the contract, or too large, is cut
 * to what the tenant can confirm it by: the work is done, and must be reported all the same.
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
  { code, message }: Failure,
): Outcome {
  return {
    type: 'failed',
    submissionId,
    usage,
    failure: { code, message: sendableMessage(message) },
  };
}

/** What the tenant is told of an executor's error: its words only where it is meant for tenants. */
export function failureOf(error: unknown): Failure {
  if (error instanceof JobFailed) return { code: error.code, message: error.message };
  return { code: 'node_error', message: 'The node failed while it ran the submission.' };
}
