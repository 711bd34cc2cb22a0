import { smoothSurge, steppedSurge, surgeNoneMicros, surgeTarget } from '@svc/domain';
import type { FleetRegistry, SmoothedSurge, SurgeBoard } from '@svc/queue';
import { runPeriodically, type Logger, type Repeating } from '@svc/runtime';
import { readSurgePin, type Store } from '@svc/store';

const surgeIntervalMs = 1_000;

interface SurgeContext {
  readonly store: Store;
  readonly fleet: Pick<FleetRegistry, 'capacity'>;
  readonly board: SurgeBoard;
  readonly logger: Logger;
  /** Receives each multiplier, computed or pinned, in millionths. */
  readonly onMultiplier: (micros: bigint) => void;
}

/**
 * The last known values. They replace the smoothed value if Redis has lost it, and the pin if
 * Postgres is unreachable.
 */
interface Remembered {
  smoothed: SmoothedSurge | null;
  pinnedMicros: bigint | null;
}

export function nextSurge(
  { slots, free }: { readonly slots: number; readonly free: number },
  after: SmoothedSurge | null,
  nowMs: number,
): SmoothedSurge {
  const targetMicros = surgeTarget(slots, slots - free);
  // Without a last value, the smoothing starts as if the fleet was idle.
  const currentMicros = after?.micros ?? surgeNoneMicros;
  const elapsedMs = after === null ? 0 : nowMs - after.atMs;
  return { micros: smoothSurge({ currentMicros, targetMicros, elapsedMs }), atMs: nowMs };
}

async function readPin({ store, logger }: SurgeContext, remembered: Remembered): Promise<void> {
  try {
    remembered.pinnedMicros = await readSurgePin(store);
  } catch (error) {
    logger.warn({ err: error }, 'could not read the surge pin');
  }
}

async function publishSurge(context: SurgeContext, remembered: Remembered): Promise<void> {
  const { fleet, board } = context;
  await readPin(context, remembered);
  const [capacity, read] = await Promise.all([fleet.capacity(), board.read()]);
  const after = read.smoothed ?? remembered.smoothed;
  const smoothed = nextSurge(capacity, after, read.nowMs);
  const multiplierMicros = remembered.pinnedMicros ?? steppedSurge(smoothed.micros);
  context.onMultiplier(multiplierMicros);
  const published = await board.publish({ after: read.smoothed, smoothed, multiplierMicros });
  remembered.smoothed = published ? smoothed : after;
}

/**
 * Publishes the surge multiplier of the whole fleet, or the value that an operator has pinned
 * (CONTRACT 4). All dispatchers share one value (decision 14).
 */
export function startSurge(context: SurgeContext): Repeating {
  const remembered: Remembered = { smoothed: null, pinnedMicros: null };
  const { logger } = context;
  async function run(): Promise<void> {
    try {
      await publishSurge(context, remembered);
    } catch (error) {
      logger.warn({ err: error }, 'could not publish the surge multiplier');
    }
  }
  return runPeriodically({ name: 'surge', intervalMs: surgeIntervalMs, run, logger });
}
