/** A reading of the database's clock is used for this long, and an unsuccessful one is repeated after. */
const readingMsMax = 60_000;
const retryMs = 1_000;

export interface IdClock {
  /** Unix time for a new id. Begins a reading in the background if the last one is too old. */
  nowMs(): number;
  /** Reads the database's clock now. Throws if the database does not answer. */
  read(): Promise<void>;
}

/**
 * The time that goes into ids. It is the database's, so that an id of a host whose clock is off still
 * lies in the partition of its month: a reading of the database's clock, carried on by the monotonic
 * clock of this process. Only before the first reading is it the host's.
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
      // What fails here is tried again by a later id.
      if (nowMs >= readAgainAtMs) read().catch(() => {});
      return aheadMs === undefined ? Date.now() : Math.round(nowMs + aheadMs);
    },
  };
}
