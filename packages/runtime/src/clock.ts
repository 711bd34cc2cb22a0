/**
 * The clock of the process. Code that checks signatures or measures durations gets it as an
 * argument. Decisions about submissions use the database's clock instead (CONTRACT 4).
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
