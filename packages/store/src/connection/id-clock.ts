/**
 * If the last reading of the database's clock is older than this, the next id begins a new reading.
 */
const readingMsMax = 60_000;
/** If a reading has no answer this long after its start, the next id begins another reading. */
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
 * The time that goes into ids. It is the database's time, because the time in an id decides the
 * monthly partition of the row, and the host's clock may be wrong. The process reads the database's
 * clock and advances the reading by its own monotonic clock. But before the first reading, the
 * host's clock is used.
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
      // A failure is ignored. The next id after `retryMs` begins another reading.
      if (nowMs >= readAgainAtMs) read().catch(() => {});
      return aheadMs === undefined ? Date.now() : Math.round(nowMs + aheadMs);
    },
  };
}
