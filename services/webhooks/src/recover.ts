import type { Producer } from '@svc/queue';
import type { Logger } from '@svc/runtime';
import { exhaustAgedRounds, findDueEndpoints, type Store } from '@svc/store';
import type { Deliverer } from './deliverer.ts';

export interface RecoverDeps {
  readonly store: Store;
  readonly producer: Producer;
  readonly deliverer: Pick<Deliverer, 'wake' | 'setPaused'>;
  readonly logger: Logger;
}

/** How many tenants with pending deliveries one statement looks at, and one round. */
const endpointsMax = 1_000;
const statementsMax = 20;
const agedMax = 1_000;

/**
 * A reconciler of deliveries (DESIGN section 7): each round finds in Postgres what is due and not
 * under way (retries that were not remembered, and whatever Redis has lost) and ends what is 72
 * hours old. It takes no input but where the last round stopped, needs no Redis, and waking an
 * endpoint once too often does no harm. A round throws where Postgres cannot be asked.
 */
export function createRecovery({ store, producer, deliverer, logger }: RecoverDeps) {
  let afterTenantId: string | null = null;

  return async function recover(): Promise<void> {
    await followPause();
    const exhausted = await exhaustAgedRounds(store, agedMax);
    if (exhausted > 0) logger.info({ count: exhausted }, 'deliveries exhausted by their age');
    for (let statement = 0; statement < statementsMax; statement += 1) {
      const found = await findDueEndpoints(store, { afterTenantId, limit: endpointsMax });
      deliverer.wake(found.tenantIds);
      afterTenantId = found.nextAfterTenantId;
      if (afterTenantId === null) break;
    }
  };

  /** Without Redis it stays as it was last seen. */
  async function followPause(): Promise<void> {
    try {
      deliverer.setPaused(await producer.isPaused('webhook'));
    } catch (error) {
      logger.debug({ err: error }, 'cannot ask whether the queue is paused');
    }
  }
}
