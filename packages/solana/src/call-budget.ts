/** Limits the calls in any second. `take` waits until the next call is within the limit. */
export interface CallBudget {
  take(): Promise<void>;
}

/**
 * The window is longer than a second, because delays on the way can bring calls closer together.
 */
const windowMs = 1_050;

export function createCallBudget(options: {
  readonly perSecond: number;
  readonly monotonicMs: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
}): CallBudget {
  /** The times of the last calls, at most `perSecond`. */
  const taken: number[] = [];
  return {
    async take() {
      for (;;) {
        const nowMs = options.monotonicMs();
        const [oldest] = taken;
        if (
          taken.length < options.perSecond ||
          oldest === undefined ||
          nowMs - oldest >= windowMs
        ) {
          if (taken.length >= options.perSecond) taken.shift();
          taken.push(nowMs);
          return;
        }
        await options.sleep(Math.ceil(oldest + windowMs - nowMs));
      }
    },
  };
}
