import type { Timers } from '../timers.ts';

/** What happens to one submission while it is offered, in order, for the one loop that waits. */
export interface Inbox<T> {
  put(item: T): void;
  /** The next one, if it is there already. */
  poll(): T | undefined;
  /** The next one, or undefined after `timeoutMs`. */
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
