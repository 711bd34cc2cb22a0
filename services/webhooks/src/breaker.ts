/**
 * A circuit breaker for an endpoint that keeps timing out (CONTRACT 6). Each timeout
 * occupies a connection for 15 s. While the breaker is open, attempts are postponed and none is
 * used up. Each deliverer has its own breakers, in memory.
 */
export interface Breaker {
  /** A new URL of the tenant starts with a closed breaker. */
  readonly url: string | null;
  /** Consecutive timeouts. */
  readonly timeouts: number;
  /** By the monotonic clock. After this, one attempt at a time probes the endpoint. */
  readonly openUntilMs: number;
}

export const closedBreaker: Breaker = { url: null, timeouts: 0, openUntilMs: 0 };

/** This many consecutive timeouts open the breaker. */
export const breakerTimeoutsMax = 5;
const breakerPauseMsMax = 30_000;

/**
 * The breaker after an attempt. Any response closes it. The timeout number `breakerTimeoutsMax` and
 * each further one open it, at most for `nextIntervalMs`, the next interval of the schedule.
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

/** True if only one attempt at a time may probe the endpoint. */
export function isProbed(breaker: Breaker): boolean {
  return breaker.timeouts >= breakerTimeoutsMax;
}
