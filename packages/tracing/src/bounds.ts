/** The wall clock may be set. It is followed if it differs from the monotonic clock by more. */
const driftMsMax = 50;

/**
 * Unix time in milliseconds, with the resolution of the monotonic clock, so that a span does not
 * begin before its parent.
 */
export function wallClock(clock: { nowMs(): number; monotonicMs(): number }): () => number {
  let offsetMs = clock.nowMs() - clock.monotonicMs();
  return () => {
    const monotonicMs = clock.monotonicMs();
    const wallMs = clock.nowMs();
    if (Math.abs(wallMs - monotonicMs - offsetMs) > driftMsMax) offsetMs = wallMs - monotonicMs;
    return monotonicMs + offsetMs;
  };
}

/** Rejects if `work` takes longer. `work` itself goes on, and its failure is then ignored. */
export async function within<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error(`not done within ${timeoutMs} ms`));
  }, timeoutMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Calls `act` at the first time, and then at most once per interval. */
export function atMostEvery<Value>(
  intervalMs: number,
  act: (value: Value) => void,
): (value: Value) => void {
  let quietUntilMs = 0;
  return (value) => {
    const nowMs = performance.now();
    if (nowMs < quietUntilMs) return;
    quietUntilMs = nowMs + intervalMs;
    act(value);
  };
}

/** Loads a value at its first use. A failed load is repeated at the next use. */
export function loadOnce<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loaded: Promise<Value> | undefined;
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}
