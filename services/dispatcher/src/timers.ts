/** Something that is due later, unless it is cleared before. */
export interface Timer {
  clear(): void;
}

/**
 * What wakes a dispatcher: like its clock an argument, so that a test can move hours of offers,
 * slots and links in milliseconds and in an order of its own.
 */
export interface Timers {
  /** Calls `run` once, no sooner than `delayMs` from now. It keeps no process alive. */
  after(delayMs: number, run: () => void): Timer;
}

/** The runtime's own. */
export const systemTimers: Timers = {
  after(delayMs, run) {
    const timeout = setTimeout(run, delayMs).unref();
    return { clear: () => clearTimeout(timeout) };
  },
};
