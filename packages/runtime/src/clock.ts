/**
 * The clock of the process. For example, gateways and dispatchers check the time of a signature
 * with it. But decisions about submissions use the database's clock (CONTRACT 4).
 */
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
