/** A call that is due later, unless it is cleared first. */
export interface Timer {
  clear(): void;
}

/**
 * The timers of a dispatcher. They are an argument, like its clock. A test can run through hours of
 * offers, slots and links in milliseconds, and in an order that it chooses.
 */
export interface Timers {
  /** Calls `run` once, at least `delayMs` from now. Does not keep the process alive. */
  after(delayMs: number, run: () => void): Timer;
}

/** Timers of Node.js. */
export const systemTimers: Timers = {
  after(delayMs, run) {
    const timeout = setTimeout(run, delayMs).unref();
    return { clear: () => clearTimeout(timeout) };
  },
};
