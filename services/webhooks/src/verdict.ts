import { nextAttemptDelayMs } from '@svc/domain';
import type { OutboundOutcome } from '@svc/runtime';
import type { AttemptVerdict } from '@svc/store';

const retryAfterStatuses: readonly number[] = [429, 503];
const goneStatus = 410;

/**
 * The seconds of a `Retry-After` header: a number, or a date like `Sat, 21 Nov 2026 09:30:00 GMT`.
 * A date in the past gives 0. Any other text gives undefined.
 */
export function parseRetryAfterSeconds(header: string, nowMs: number): number | undefined {
  const text = header.trim();
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  // `Date.parse` accepts almost anything. A text is therefore parsed only if it begins and
  // ends like an HTTP date.
  if (!/^[A-Z][a-z]{2}, .* GMT$/.test(text)) return undefined;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - nowMs) / 1000));
}

/** Decides what follows an attempt (CONTRACT 6). `jitter` is a random number from 0 to 1. */
export function decideVerdict({
  outcome,
  attemptNumber,
  backoffSeconds,
  jitter,
  nowMs,
}: {
  readonly outcome: OutboundOutcome;
  readonly attemptNumber: number;
  readonly backoffSeconds: readonly number[];
  readonly jitter: number;
  readonly nowMs: number;
}): AttemptVerdict {
  const responded = outcome.kind === 'responded' ? outcome : undefined;
  if (responded !== undefined) {
    if (responded.statusCode >= 200 && responded.statusCode < 300) return { kind: 'delivered' };
    if (responded.statusCode === goneStatus) return { kind: 'gone' };
  }
  const header = responded?.headers['retry-after'];
  const asked = responded !== undefined && retryAfterStatuses.includes(responded.statusCode);
  const retryAfterSeconds =
    asked && header !== undefined ? parseRetryAfterSeconds(header, nowMs) : undefined;
  const delayMs = nextAttemptDelayMs({ backoffSeconds, attemptNumber, jitter, retryAfterSeconds });
  return delayMs === undefined ? { kind: 'exhausted' } : { kind: 'retry', delayMs };
}
