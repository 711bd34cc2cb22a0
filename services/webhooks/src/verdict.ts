import { nextAttemptDelayMs } from '@svc/domain';
import type { OutboundOutcome } from '@svc/runtime';
import type { AttemptVerdict } from '@svc/store';

const retryAfterStatuses: readonly number[] = [429, 503];
const goneStatus = 410;

/**
 * Seconds of a `Retry-After` header, which is a number of them or a date; undefined where it is
 * neither. A date that has passed asks for nothing.
 */
export function parseRetryAfterSeconds(header: string, nowMs: number): number | undefined {
  const text = header.trim();
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  // Only the dates of HTTP: `Date.parse` would take almost anything.
  if (!/^[A-Z][a-z]{2}, .* GMT$/.test(text)) return undefined;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - nowMs) / 1000));
}

/**
 * What follows from an attempt (CONTRACT 6): a 2xx delivers, a 410 says that the endpoint
 * is gone for good, and everything else is tried again until the schedule is spent. `jitter` is a
 * random number from 0 to 1.
 */
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
