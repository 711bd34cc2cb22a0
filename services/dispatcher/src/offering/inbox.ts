import type { Timers } from '../timers.ts';

/** A queue of events with one reader: the loop that offers one submission. */
export interface Inbox<T> {
  put(item: T): void;
  poll(): T | undefined;
  /** Returns and removes the next item. Returns undefined if none arrives within `timeoutMs`. */
  next(timeoutMs: number): Promise<T | undefined>;
}

export function createInbox<T>(timers: Timers): Inbox<T> {
  const items: T[] = [];
  let wake: (() => void) | undefined;
  return {
    put(item) {
      items.push(item);
      wake?.();
    },
    poll: () => items.shift(),
    async next(timeoutMs) {
      if (items.length === 0) {
        await new Promise<void>((resolve) => {
          const timer = timers.after(Math.max(0, Math.ceil(timeoutMs)), resolve);
          wake = () => {
            timer.clear();
            resolve();
          };
        });
        wake = undefined;
      }
      return items.shift();
    },
  };
}
