/**
 * Limits how many calls start in any second (`perSecond` of `createCallBudget`). `take` waits until
 * one more call may start.
 */
export interface CallBudget {
  take(): Promise<void>;
}

/**
 * At most `perSecond` calls start in this time. It is longer than a second, because network delays
 * can bring calls closer together before the server counts them.
 */
const windowMs = 1_050;

export function createCallBudget(options: {
  readonly perSecond: number;
  readonly monotonicMs: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
}): CallBudget {
  /** The start times of the last calls, oldest first, at most `perSecond` of them. */
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
