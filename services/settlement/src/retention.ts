import { type Lifecycle, type Logger, runUntilClosed } from '@svc/runtime';
import {
  deleteExpiredEvents,
  dropExpiredPartitions,
  expiredEventsBefore,
  type LockPauses,
  type Retention,
  type Store,
} from '@svc/store';

const intervalMs = 600_000;
/** The most pages of events in one pass. Later passes delete the rest of a backlog. */
const eventPagesMax = 2_000;

export interface RetentionDeps extends Retention {
  readonly store: Store;
  readonly logger: Logger;
  /**
   * A pass first calls this with NaN, and then with the number of old partitions that it could not
   * drop. The NaN stays if the pass fails before it knows the number.
   */
  readonly setPartitionsOverdue: (count: number) => void;
  readonly countEventsDeleted: (count: number) => void;
  /** The most events that one transaction reads. */
  readonly batchMax?: number;
  /**
   * The most tries to drop a partition while another session has a lock on it, and the pause
   * between two tries.
   */
  readonly lockPauses?: LockPauses;
}

export function startRetention(deps: RetentionDeps, lifecycle: Lifecycle): void {
  const { logger } = deps;
  runUntilClosed(lifecycle, { name: 'retention', intervalMs, run: () => retain(deps), logger });
}

/**
 * Drops old partitions and deletes old events, except those that are still needed (decision 36).
 * Throws if some could not be dropped or deleted.
 */
export async function retain(deps: RetentionDeps): Promise<void> {
  const { store, logger, usageDays, deliveryDays, setPartitionsOverdue } = deps;
  setPartitionsOverdue(Number.NaN);
  const { dropped, needed, errors } = await dropExpiredPartitions(
    store,
    { usageDays, deliveryDays },
    deps.lockPauses,
  );
  setPartitionsOverdue(errors.length);
  if (dropped.length > 0) logger.info({ dropped }, 'old partitions dropped');
  if (needed.length > 0)
    logger.info(
      { needed },
      'old partitions are kept, because a delivery or a submission in flight still needs them',
    );
  try {
    await deleteOldEvents(deps);
  } catch (error) {
    throw errors.length === 0 ? error : new AggregateError([error, ...errors], String(error));
  }
  if (errors.length > 0)
    throw new AggregateError(errors, `${errors.length} old partitions could not be dropped`);
}

async function deleteOldEvents(deps: RetentionDeps): Promise<void> {
  const { store, logger, deliveryDays } = deps;
  const before = await expiredEventsBefore(store, deliveryDays);
  let deleted = 0;
  let after: string | null = null;
  for (let page = 0; page < eventPagesMax; page += 1) {
    const done = await deleteExpiredEvents(store, { before, after, limit: deps.batchMax });
    deleted += done.deleted;
    deps.countEventsDeleted(done.deleted);
    after = done.next;
    if (after === null) break;
  }
  if (deleted > 0) logger.info({ deleted, deliveryDays }, 'old events deleted');
}
