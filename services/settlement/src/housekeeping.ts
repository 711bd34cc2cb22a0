import { every, type Logger, type Repeating } from '@svc/runtime';
import { ensurePartitions, type Store } from '@svc/store';

/** Partitions are made months ahead, so that a day without housekeeping is no harm. */
const housekeepingIntervalMs = 3_600_000;

/** Keeps the partitions of the coming months there, beginning now. */
export async function startHousekeeping(store: Store, logger: Logger): Promise<Repeating> {
  const run = async (): Promise<void> => {
    const created = await ensurePartitions(store);
    if (created > 0) logger.info({ created }, 'partitions created');
  };
  await run();
  return every({ name: 'housekeeping', intervalMs: housekeepingIntervalMs, run, logger });
}
