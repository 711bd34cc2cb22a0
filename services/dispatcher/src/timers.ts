export interface Timer {
  clear(): void;
}

/**
 * The timers of a dispatcher. Tests pass their own timers and clock. They can then run through
 * hours of offers in milliseconds, in an order that they choose.
 */
export interface Timers {
  /**
   * Calls `run` once, about `delayMs` from now, unless the timer is cleared. The timer does not
   * keep the process alive.
   */
  after(delayMs: number, run: () => void): Timer;
}

export const systemTimers: Timers = {
  after(delayMs, run) {
    const timeout = setTimeout(run, delayMs).unref();
    return { clear: () => clearTimeout(timeout) };
  },
};
