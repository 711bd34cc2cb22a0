/** The clock of the process. Decisions about submissions use the database's clock (decision 6). */
export interface Clock {
  /** Unix time in milliseconds. */
  nowMs(): number;
  /** Never goes back. Only differences are meaningful. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
