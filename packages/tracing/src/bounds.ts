/**
 * If the clock that `wallClock` returns differs from the system's time by more than this, the clock
 * jumps to the system's time.
 */
const driftMsMax = 50;

/**
 * Returns a clock of Unix time in milliseconds, with the resolution of `monotonicMs`. Some spans
 * are shorter than 1 ms, the resolution of `nowMs`.
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

/**
 * Settles as `work` does, or rejects after `timeoutMs`. After that `work` goes on, and its result
 * or error is ignored.
 */
export async function within<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error(`the read or write of a trace context took more than ${timeoutMs} ms`));
  }, timeoutMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

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

/**
 * Returns a function that loads the value at its first call and then keeps it. If loading fails,
 * the next call loads again.
 */
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
