import { AsyncLocalStorage } from 'node:async_hooks';

/** The machine as one simulated process sees it. */
export interface Host {
  /** Unix time by this host's clock, which may be wrong. */
  nowMs(): number;
  /** Only differences mean anything. */
  monotonicMs(): number;
  /** Calls `run` once, no sooner than `delayMs` from now. Returns how to clear it. */
  after(delayMs: number, run: () => void): () => void;
  /** From 0 to below `below`. */
  nat(below: number): number;
}

/** Which simulated process the code that runs now belongs to; undefined outside of a simulation. */
export const hosts = new AsyncLocalStorage<Host>();

let waitingImmediates = 0;

/** How many callbacks wait for the next turn of the event loop. */
export function immediatesWaiting(): number {
  return waitingImmediates;
}

/** A counted `setImmediate`: the scheduler goes on when none waits. */
export function countedImmediate(run: () => void): NodeJS.Immediate {
  waitingImmediates += 1;
  return setImmediate(() => {
    waitingImmediates -= 1;
    run();
  });
}
