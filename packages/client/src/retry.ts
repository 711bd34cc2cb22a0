import { ApiConnectionError, ApiError, type SvcError } from './errors.ts';
import type { Answer } from './send.ts';

const firstPauseMs = 500;
const pauseMsMax = 8000;
/**
 * The longest pause that an error answer may ask for. If it asks for a longer one, the call throws
 * the error at once instead of trying again.
 */
const askedPauseMsMax = 60_000;
const temporaryStatuses: readonly number[] = [408, 429, 500, 502, 503, 504];

/** True if the same request may succeed later. */
export function isTemporary(error: unknown): error is SvcError {
  return error instanceof ApiError
    ? temporaryStatuses.includes(error.status)
    : error instanceof ApiConnectionError;
}

function askedPauseMs(error: ApiError, headers: Headers | undefined): number | undefined {
  const header = headers?.get('retry-after') ?? '';
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const untilMs = Date.parse(header);
  if (untilMs) {
    // The pause is counted from the `date` of the answer, because the local clock may be wrong.
    // Without a `date`, the local clock is used.
    const fromMs = Date.parse(headers?.get('date') ?? '') || Date.now();
    return Math.max(0, untilMs - fromMs);
  }
  const { retryAfterSeconds } = error.problem;
  return retryAfterSeconds && retryAfterSeconds * 1000;
}

/**
 * The pause in milliseconds before the next attempt (CONTRACT 11). Undefined if the call must not
 * be repeated.
 */
export function retryPauseMs(
  error: Error,
  retries: number,
  answer: Answer | undefined,
  options: { readonly retryDispatchUnavailable: boolean },
): number | undefined {
  if (error instanceof ApiError) {
    if (!isTemporary(error)) return undefined;
    if (error.code === 'dispatch_unavailable' && !options.retryDispatchUnavailable)
      return undefined;
    const askedMs = askedPauseMs(error, answer?.headers);
    if (askedMs !== undefined) return askedMs <= askedPauseMsMax ? askedMs : undefined;
  }
  const wholeMs = Math.min(firstPauseMs * 2 ** retries, pauseMsMax);
  return wholeMs * (1 - Math.random() / 2);
}
