import { AsyncLocalStorage } from 'node:async_hooks';

export interface Host {
  /** Unix time in milliseconds by the host's clock. This clock may be wrong. */
  nowMs(): number;
  /** Monotonic time. Only differences are meaningful. */
  monotonicMs(): number;
  /** Calls `run` once, after at least `delayMs`. Returns a function that clears the timer. */
  after(delayMs: number, run: () => void): () => void;
  /** A random integer, at least 0 and less than `below`. */
  nat(below: number): number;
}

/**
 * `getStore` returns the `Host` of the simulated process in which the current code runs. Outside a
 * simulated process it returns undefined.
 */
export const hosts = new AsyncLocalStorage<Host>();

let waitingImmediates = 0;

export function immediatesWaiting(): number {
  return waitingImmediates;
}

/**
 * A `setImmediate` that counts its waiting callbacks. The scheduler continues only when no callback
 * waits.
 */
export function countedImmediate(run: () => void): NodeJS.Immediate {
  waitingImmediates += 1;
  return setImmediate(() => {
    waitingImmediates -= 1;
    run();
  });
}
