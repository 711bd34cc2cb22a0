import { jobIdsMax } from '@svc/contracts';
import { enqueueDeliveries, type Producer } from '@svc/queue';
import type { Logger } from '@svc/runtime';
import { findDueDeliveries, type Store } from '@svc/store';

export interface RecoverDeps {
  readonly store: Store;
  readonly producer: Producer;
  readonly logger: Logger;
}

/** While this many jobs wait, the deliverers are busy, and more alarms would only be in the way. */
const waitingJobsMax = 32;
/** How many deliveries one round enqueues. */
const recoveredMax = waitingJobsMax * jobIdsMax;

/**
 * One round: puts on the queue again what is due in Postgres and not under way (DESIGN section 7):
 * retries that come later than Redis is trusted to remember, and whatever Redis has lost. It takes
 * no input, and an alarm too many does no harm. Throws where Postgres or Redis cannot be asked.
 */
export async function recover({ store, producer, logger }: RecoverDeps): Promise<void> {
  if ((await producer.countWaiting('webhook')) >= waitingJobsMax) return;
  const due = await findDueDeliveries(store, recoveredMax);
  if (due.length === 0) return;
  await enqueueDeliveries(producer, due);
  logger.info({ count: due.length }, 'enqueued due deliveries');
}
