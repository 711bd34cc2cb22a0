/** What happens to one submission while it is offered, in order, for the one loop that waits. */
export interface Inbox<T> {
  put(item: T): void;
  /** The next one, if it is there already. */
  poll(): T | undefined;
  /** The next one, or undefined after `timeoutMs`. */
  next(timeoutMs: number): Promise<T | undefined>;
}

export function createInbox<T>(): Inbox<T> {
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
          const timer = setTimeout(resolve, Math.max(0, Math.ceil(timeoutMs)));
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = undefined;
      }
      return items.shift();
    },
  };
}
