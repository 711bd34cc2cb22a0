import { toWireId } from '@svc/domain';
import type { Producer } from '@svc/queue';
import type { Logger } from '@svc/runtime';
import {
  exhaustAgedRounds,
  findAgedRounds,
  findDueEndpoints,
  reconcileTogether,
  type AgedCursor,
  type Store,
} from '@svc/store';
import type { Deliverer } from './deliverer.ts';

export interface RecoverDeps {
  readonly store: Store;
  readonly producer: Producer;
  readonly deliverer: Pick<Deliverer, 'wake' | 'setPaused'>;
  readonly logger: Logger;
}

/** How many tenants with pending deliveries one statement looks at, and how many statements a round makes. */
const endpointsMax = 1_000;
const statementsMax = 20;
/** The same for deliveries whose round is over by its age. */
const agedMax = 500;
const agedPagesMax = 20;
const aged = { reconciler: 'webhook', kind: 'aged_delivery' } as const;

/**
 * A reconciler of deliveries: each round finds in Postgres what is due and not under way (retries
 * that were not remembered, and whatever Redis has lost) and ends what is 72 hours old. It takes no
 * input but where the last round stopped, needs no Redis, and waking an endpoint once too often
 * does no harm. Deliveries that cannot be ended are put off with a backoff and keep nothing else
 * waiting. Throws if Postgres does not answer, or if a delivery could not be ended.
 */
export function createRecovery({ store, producer, deliverer, logger }: RecoverDeps) {
  let afterTenantId: string | null = null;
  let afterAged: AgedCursor | null = null;

  return async function recover(): Promise<void> {
    await followPause();
    // First, because it matters more, and nothing of it can fail for a single row.
    await wakeDue();
    await endAged();
  };

  async function wakeDue(): Promise<void> {
    for (let statement = 0; statement < statementsMax; statement += 1) {
      const found = await findDueEndpoints(store, { afterTenantId, limit: endpointsMax });
      deliverer.wake(found.tenantIds);
      afterTenantId = found.nextAfterTenantId;
      if (afterTenantId === null) break;
    }
  }

  async function endAged(): Promise<void> {
    const errors: unknown[] = [];
    for (let page = 0; page < agedPagesMax; page += 1) {
      const found = await findAgedRounds(store, { after: afterAged, limit: agedMax });
      afterAged = found.next;
      const ended = await reconcileTogether(store, aged, found.rounds, (ids) =>
        exhaustAgedRounds(store, ids),
      );
      if (ended.count > 0) logger.info({ count: ended.count }, 'deliveries exhausted by their age');
      for (const { subjectId, error } of ended.failures) {
        const deliveryId = toWireId('dlv', subjectId);
        logger.warn({ err: error, deliveryId }, 'could not end an aged delivery');
        errors.push(error);
      }
      if (afterAged === null) break;
    }
    if (errors.length === 0) return;
    throw new AggregateError(errors, `${errors.length} aged deliveries could not be ended`);
  }

  /** Without Redis it stays as it was last seen. */
  async function followPause(): Promise<void> {
    try {
      deliverer.setPaused(await producer.isPaused('webhook'));
    } catch (error) {
      logger.debug({ err: error }, 'cannot ask whether the queue is paused');
    }
  }
}
