/**
 * The process's clock, as an argument. What is decided for a submission goes by the database's
 * clock and not by this one (CONTRACT 4); this one stamps signatures and measures spans.
 */
export interface Clock {
  /** Unix time. */
  nowMs(): number;
  /** Never goes back; only differences mean anything. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
