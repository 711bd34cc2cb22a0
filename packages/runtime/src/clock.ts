/**
 * The clock of the process, which code takes as an argument. Code checks signatures and measures
 * durations with it. Decisions about submissions use the database's clock instead (CONTRACT 4).
 */
export interface Clock {
  /** Unix time. */
  nowMs(): number;
  /** Never goes back. Only differences are meaningful. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
