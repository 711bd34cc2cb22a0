/**
 * A circuit breaker for an endpoint that keeps timing out, because each timeout occupies a
 * connection for 15 s (CONTRACT 6). Each deliverer has its own breaker for each endpoint.
 */
export interface Breaker {
  /**
   * The URL of the last attempt, or null before the first one. Timeouts of one URL do not count for
   * another.
   */
  readonly url: string | null;
  /** The number of consecutive timeouts of `url`. */
  readonly timeouts: number;
  /**
   * Monotonic time until which the breaker is open. Afterwards one attempt at a time probes the
   * endpoint. 0 if the breaker is closed.
   */
  readonly openUntilMs: number;
}

export const closedBreaker: Breaker = { url: null, timeouts: 0, openUntilMs: 0 };

export const breakerTimeoutsMax = 5;
const breakerPauseMsMax = 30_000;

/**
 * Returns the breaker after an attempt. A timeout opens it if the URL has now had at least
 * `breakerTimeoutsMax` consecutive timeouts. Any other outcome closes it.
 */
export function afterAttempt(
  breaker: Breaker,
  attempt: {
    readonly url: string;
    readonly timedOut: boolean;
    /**
     * The time until the next attempt of the delivery. The shortest interval of the schedule if the
     * delivery has no next attempt.
     */
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

/**
 * True from the time when the breaker opens until an attempt closes the breaker, even after
 * `openUntilMs`.
 */
export function isProbed(breaker: Breaker): boolean {
  return breaker.timeouts >= breakerTimeoutsMax;
}
