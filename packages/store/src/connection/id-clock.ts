/**
 * If the last reading of the database's clock is older than this, the next id begins a new reading.
 */
const readingMsMax = 60_000;
/**
 * If a reading of the database's clock is not answered within this time, the next id begins another
 * reading.
 */
const retryMs = 1_000;

export interface IdClock {
  /**
   * Returns the Unix time for a new id. Also starts to read the database's clock in the background
   * if a reading is due (`readingMsMax`, `retryMs`).
   */
  nowMs(): number;
  /** Reads the database's clock and waits for the answer. Throws if there is no answer. */
  read(): Promise<void>;
}

/**
 * A clock with the database's time (decision 6), or the host's time until a first reading succeeds.
 * Some tables are partitioned by the time in an id (decision 5).
 */
export function createIdClock(
  readDatabaseMs: () => Promise<number>,
  monotonicMs: () => number = () => performance.now(),
): IdClock {
  let aheadMs: number | undefined;
  let readAgainAtMs = Number.NEGATIVE_INFINITY;

  async function read(): Promise<void> {
    const beganMs = monotonicMs();
    readAgainAtMs = beganMs + retryMs;
    const databaseMs = await readDatabaseMs();
    const endedMs = monotonicMs();
    aheadMs = databaseMs - (beganMs + endedMs) / 2;
    readAgainAtMs = endedMs + readingMsMax;
  }

  return {
    read,
    nowMs() {
      const nowMs = monotonicMs();
      if (nowMs >= readAgainAtMs) read().catch(() => {});
      return aheadMs === undefined ? Date.now() : Math.round(nowMs + aheadMs);
    },
  };
}
