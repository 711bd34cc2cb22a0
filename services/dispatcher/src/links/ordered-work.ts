/** Runs work with the same key in order, and work with different keys concurrently. */
export interface OrderedWork {
  /** `work` must not reject. */
  run(key: string, work: () => Promise<void>): void;
  /** The number of pieces of work that are queued or in progress. */
  readonly size: number;
  idle(): Promise<void>;
}

export function createOrderedWork(onDone: () => void = () => {}): OrderedWork {
  const tails = new Map<string, Promise<void>>();
  let size = 0;

  async function after(previous: Promise<void> | undefined, work: () => Promise<void>) {
    await previous;
    await work();
    size -= 1;
    onDone();
  }

  return {
    run(key, work) {
      size += 1;
      const tail = after(tails.get(key), work).finally(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
      tails.set(key, tail);
    },
    get size() {
      return size;
    },
    async idle() {
      while (tails.size > 0) await Promise.all(tails.values());
    },
  };
}
