import { smoothSurge, steppedSurge, surgeNoneMicros, surgeTarget } from '@svc/domain';
import type { FleetRegistry, SmoothedSurge, SurgeBoard } from '@svc/queue';
import { every, type Logger, type Repeating } from '@svc/runtime';
import { readSurgePin, type Store } from '@svc/store';

const surgeIntervalMs = 1_000;

interface SurgeContext {
  readonly store: Store;
  readonly fleet: Pick<FleetRegistry, 'capacity'>;
  readonly board: SurgeBoard;
  readonly logger: Logger;
  /** Told of each multiplier that was worked out, in millionths. */
  readonly onMultiplier: (micros: bigint) => void;
}

/** What one dispatcher remembers, for when Redis or Postgres does not. */
interface Remembered {
  smoothed: SmoothedSurge | null;
  pinnedMicros: bigint | null;
}

/** One step of the smoothing, from where it stands to where the fleet's use of its slots heads. */
export function nextSurge(
  { slots, free }: { readonly slots: number; readonly free: number },
  after: SmoothedSurge | null,
  nowMs: number,
): SmoothedSurge {
  const targetMicros = surgeTarget(slots, slots - free);
  // Of a fleet that was not watched nothing is known but that it may be idle.
  const currentMicros = after?.micros ?? surgeNoneMicros;
  const elapsedMs = after === null ? 0 : nowMs - after.atMs;
  return { micros: smoothSurge({ currentMicros, targetMicros, elapsedMs }), atMs: nowMs };
}

/** Where Postgres cannot be reached, the pin that it had is kept to. */
async function lookForPin({ store, logger }: SurgeContext, remembered: Remembered): Promise<void> {
  try {
    remembered.pinnedMicros = await readSurgePin(store);
  } catch (error) {
    logger.warn({ err: error }, 'could not look whether surge is pinned');
  }
}

async function publishSurge(context: SurgeContext, remembered: Remembered): Promise<void> {
  const { fleet, board } = context;
  await lookForPin(context, remembered);
  const [capacity, read] = await Promise.all([fleet.capacity(), board.read()]);
  const after = read.smoothed ?? remembered.smoothed;
  const smoothed = nextSurge(capacity, after, read.nowMs);
  const multiplierMicros = remembered.pinnedMicros ?? steppedSurge(smoothed.micros);
  context.onMultiplier(multiplierMicros);
  const published = await board.publish({ after: read.smoothed, smoothed, multiplierMicros });
  remembered.smoothed = published ? smoothed : after;
}

/**
 * Publishes the surge multiplier of the whole fleet, or what an operator has pinned it to
 * (CONTRACT 4, last rule). Every dispatcher does so, each from what the last one published, so that
 * there is one value however many there are.
 */
export function startSurge(context: SurgeContext): Repeating {
  const remembered: Remembered = { smoothed: null, pinnedMicros: null };
  const { logger } = context;
  async function run(): Promise<void> {
    try {
      await publishSurge(context, remembered);
    } catch (error) {
      logger.warn({ err: error }, 'could not publish surge');
    }
  }
  return every({ name: 'surge', intervalMs: surgeIntervalMs, run, logger });
}
