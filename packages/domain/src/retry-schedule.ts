import { assertInvariant } from './assert.ts';
import { webhookAttemptsMax } from './limits.ts';

/** Each interval of the schedule is moved by up to this share, either way (CONTRACT 6). */
const jitterShare = 0.1;
/** `Retry-After` moves an attempt later by at most this many times its interval. */
const retryAfterFactorMax = 2;
const secondsPattern = /^[0-9]{1,7}(\.[0-9]{1,3})?$/;

/**
 * Reads `WEBHOOK_BACKOFF_SECONDS`: the seconds between attempts, separated by commas. Undefined
 * where one of them is no number of seconds, or where there are more than eight attempts allow.
 */
export function parseBackoffSeconds(text: string): number[] | undefined {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length > webhookAttemptsMax - 1) return undefined;
  if (!parts.every((part) => secondsPattern.test(part))) return undefined;
  return parts.map(Number);
}

/** How many attempts a schedule makes: the first one at once, then one after each interval. */
export function attemptsMax(backoffSeconds: readonly number[]): number {
  return backoffSeconds.length + 1;
}

/**
 * Milliseconds from the attempt just made (`attemptNumber`, from 1) to the next, or undefined where
 * the schedule is exhausted. `jitter` is a random number from 0 to 1; `retryAfterSeconds` is what
 * the endpoint asked for on a 429 or 503 (CONTRACT 6).
 */
export function nextAttemptDelayMs(input: {
  readonly backoffSeconds: readonly number[];
  readonly attemptNumber: number;
  readonly jitter: number;
  readonly retryAfterSeconds?: number | undefined;
}): number | undefined {
  assertInvariant(input.attemptNumber >= 1, 'attempts are numbered from 1');
  assertInvariant(input.jitter >= 0 && input.jitter <= 1, 'jitter is a share');
  const intervalSeconds = input.backoffSeconds[input.attemptNumber - 1];
  if (intervalSeconds === undefined) return undefined;
  const jittered = intervalSeconds * (1 - jitterShare + 2 * jitterShare * input.jitter);
  const asked = Math.min(input.retryAfterSeconds ?? 0, intervalSeconds * retryAfterFactorMax);
  return Math.round(Math.max(jittered, asked) * 1000);
}
