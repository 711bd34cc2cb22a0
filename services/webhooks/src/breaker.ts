/**
 * Whether an endpoint that keeps timing out is left alone for a while (CONTRACT 6): a
 * timeout costs 15 s of a connection, and the attempts that would run into it are put off, which
 * uses none of them up. Each deliverer learns by itself and forgets when it ends.
 */
export interface Breaker {
  /** A tenant's new URL starts anew. */
  readonly url: string | null;
  /** One after another. */
  readonly timeouts: number;
  /** By the monotonic clock; once it is over, one attempt at a time finds out. */
  readonly openUntilMs: number;
}

export const closedBreaker: Breaker = { url: null, timeouts: 0, openUntilMs: 0 };

/** So many timeouts in a row open it. */
export const breakerTimeoutsMax = 5;
const breakerPauseMsMax = 30_000;

/**
 * After an attempt: whatever answer closes the breaker, and a timeout beyond `breakerTimeoutsMax`
 * opens it, never for longer than `nextIntervalMs`, the next interval of the schedule.
 */
export function afterAttempt(
  breaker: Breaker,
  attempt: {
    readonly url: string;
    readonly timedOut: boolean;
    readonly nextIntervalMs: number;
    readonly nowMs: number;
  },
): Breaker {
  const { url, timedOut, nextIntervalMs, nowMs } = attempt;
  if (!timedOut) return { url, timeouts: 0, openUntilMs: 0 };
  const timeouts = (breaker.url === url ? breaker.timeouts : 0) + 1;
  if (timeouts < breakerTimeoutsMax) return { url, timeouts, openUntilMs: 0 };
  return { url, timeouts, openUntilMs: nowMs + Math.min(nextIntervalMs, breakerPauseMsMax) };
}

/** Whether the endpoint has to show first, with one attempt, that it answers again. */
export function isProbed(breaker: Breaker): boolean {
  return breaker.timeouts >= breakerTimeoutsMax;
}
