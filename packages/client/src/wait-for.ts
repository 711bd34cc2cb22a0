import type { CallOptions, Connection } from './connection.ts';
import { ApiError, WaitTimeoutError } from './errors.ts';
import { isTemporary } from './retry.ts';
import type { EndedSubmission, Submission } from './types.ts';

const pollFirstMs = 250;
const pollGrowth = 1.5;
const pollMaxMs = 2000;

function hasEnded(submission: Submission): submission is EndedSubmission {
  return ['submitted', 'failed', 'cancelled'].includes(submission.status);
}

/**
 * Throws `WaitTimeoutError` if the next poll would begin more than `timeoutMs` after the call.
 * Continues after temporary errors, and throws other errors at once.
 */
export async function waitFor(
  connection: Connection,
  getSubmission: (submissionId: string, options: CallOptions) => Promise<Submission>,
  submissionId: string,
  { timeoutMs, signal }: CallOptions & { readonly timeoutMs: number },
): Promise<EndedSubmission> {
  const deadlineMs = connection.elapsed() + timeoutMs;
  let pauseMs = pollFirstMs;
  let last: Submission | null = null;
  let cause: unknown;
  for (;;) {
    try {
      const leftMs = Math.max(1, deadlineMs - connection.elapsed());
      last = await getSubmission(submissionId, {
        signal,
        timeoutMs: leftMs,
        maxRetries: 0,
      });
      cause = undefined;
      if (hasEnded(last)) return last;
    } catch (error) {
      if (!isTemporary(error)) throw error;
      cause = error;
    }
    const askedSeconds = cause instanceof ApiError ? (cause.problem.retryAfterSeconds ?? 0) : 0;
    const waitMs = Math.max(pauseMs, askedSeconds * 1000);
    if (connection.elapsed() + waitMs > deadlineMs) {
      throw new WaitTimeoutError(submissionId, timeoutMs, last, cause);
    }
    await connection.sleep(waitMs, signal);
    pauseMs = Math.min(pauseMs * pollGrowth, pollMaxMs);
  }
}
