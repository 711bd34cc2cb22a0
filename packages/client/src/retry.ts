import { ApiError } from './errors.ts';
import type { Answer } from './send.ts';

const firstPauseMs = 500;
const pauseMsMax = 8000;
/** If the service asks for a longer pause, the error is reported instead. */
const askedPauseMsMax = 60_000;
/** The statuses of errors that do not concern the request itself. */
export const temporaryStatuses: readonly number[] = [408, 429, 500, 502, 503, 504];

/** The pause that the answer asks for, in milliseconds. */
function askedPauseMs(error: ApiError, headers: Headers | undefined): number | undefined {
  const header = headers?.get('retry-after') ?? '';
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const untilMs = Date.parse(header);
  if (untilMs) {
    // The clock of the answer tells how long the pause is, whatever the local clock says.
    const fromMs = Date.parse(headers?.get('date') ?? '') || Date.now();
    return Math.max(0, untilMs - fromMs);
  }
  const { retryAfterSeconds } = error.problem;
  return retryAfterSeconds && retryAfterSeconds * 1000;
}

/**
 * The pause before the next attempt in milliseconds (CONTRACT 11): what the answer asks for, else
 * 0.5 s doubling to 8 s, less up to half of it. Undefined if the error is not temporary.
 */
export function retryPauseMs(
  error: Error,
  retries: number,
  answer: Answer | undefined,
  options: { readonly retryDispatchUnavailable: boolean },
): number | undefined {
  if (error instanceof ApiError) {
    if (!temporaryStatuses.includes(error.status)) return undefined;
    if (error.code === 'dispatch_unavailable' && !options.retryDispatchUnavailable)
      return undefined;
    const askedMs = askedPauseMs(error, answer?.headers);
    if (askedMs !== undefined) return askedMs <= askedPauseMsMax ? askedMs : undefined;
  }
  const wholeMs = Math.min(firstPauseMs * 2 ** retries, pauseMsMax);
  return wholeMs * (1 - Math.random() / 2);
}
