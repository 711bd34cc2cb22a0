/**
 * The clock of the process. Gateways and dispatchers check signatures with the clock that they get
 * as an argument. Decisions about submissions use the database's clock instead (CONTRACT 4).
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
