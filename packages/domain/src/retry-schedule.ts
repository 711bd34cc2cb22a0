import { assertInvariant } from './assert.ts';
import { webhookAttemptsMax } from './limits.ts';

/**
 * Each interval of the schedule varies by up to this share in both directions (CONTRACT 6). The
 * default intervals are `webhookBackoffSecondsDefault` in limits.ts.
 */
const jitterShare = 0.1;
/** `Retry-After` can lengthen a wait to at most this many times its scheduled interval. */
const retryAfterFactorMax = 2;
const backoffPattern = /^[0-9]{1,7}(\.[0-9]{1,3})?$/;

/**
 * Parses `WEBHOOK_BACKOFF_SECONDS`: the seconds between attempts, separated by commas. Undefined if
 * the text is malformed, or has more than `webhookAttemptsMax - 1` intervals.
 */
export function parseBackoffSeconds(text: string): number[] | undefined {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length > webhookAttemptsMax - 1) return undefined;
  if (!parts.every((part) => backoffPattern.test(part))) return undefined;
  return parts.map(Number);
}

/** The number of attempts of a schedule: one immediately, and one after each interval. */
export function attemptsMax(backoffSeconds: readonly number[]): number {
  return backoffSeconds.length + 1;
}

/**
 * The milliseconds from attempt `attemptNumber` to the next attempt. Undefined if the schedule is
 * exhausted.
 */
export function nextAttemptDelayMs(input: {
  readonly backoffSeconds: readonly number[];
  /** The first attempt has the number 1. */
  readonly attemptNumber: number;
  /** A random number from 0 to 1. */
  readonly jitter: number;
  /** The `Retry-After` of a 429 or 503 answer (CONTRACT 6). It never shortens the delay. */
  readonly retryAfterSeconds?: number | undefined;
}): number | undefined {
  assertInvariant(input.attemptNumber >= 1, 'attempts are numbered from 1');
  assertInvariant(input.jitter >= 0 && input.jitter <= 1, 'jitter is from 0 to 1');
  const intervalSeconds = input.backoffSeconds[input.attemptNumber - 1];
  if (intervalSeconds === undefined) return undefined;
  const jittered = intervalSeconds * (1 - jitterShare + 2 * jitterShare * input.jitter);
  const asked = Math.min(input.retryAfterSeconds ?? 0, intervalSeconds * retryAfterFactorMax);
  return Math.round(Math.max(jittered, asked) * 1000);
}
