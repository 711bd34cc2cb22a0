import { toWireId } from '@svc/domain';
import type { Producer } from '@svc/queue';
import type { Logger } from '@svc/runtime';
import { hasMasterKeys } from '@svc/startup';
import {
  deleteRetiredEndpoints,
  dropUnreadableEvents,
  exhaustAgedRounds,
  findAgedRounds,
  findDueEndpoints,
  findDueTargets,
  reconcileTogether,
  type CandidateCursor,
  type Store,
} from '@svc/store';
import type { Deliverer } from './deliverer.ts';

export interface RecoverDeps {
  readonly store: Store;
  readonly producer: Producer;
  readonly deliverer: Pick<Deliverer, 'wake' | 'wakeTargets' | 'setPaused' | 'forgetOldBreakers'>;
  readonly logger: Logger;
}

/** The most tenants or endpoints that one statement reads. */
const endpointsMax = 1_000;
/** The most statements of `wakeDue` in one pass. `wakeDueTargets` has the same limit. */
const statementsMax = 20;
/** The most deliveries that `endAged` reads in one page, and the most such pages in one pass. */
const agedMax = 500;
const agedPagesMax = 20;
/** `tidyEndpoints` runs in the first of each 60 successful passes, because it is not urgent. */
const tidyEveryPasses = 60;
const tidiedPagesMax = 20;
const tidiedMax = 500;
const aged = { reconciler: 'webhook', kind: 'aged_delivery' } as const;

async function dropAllUnreadable(store: Store): Promise<number> {
  let dropped = 0;
  for (let page = 0; page < tidiedPagesMax; page += 1) {
    const count = await dropUnreadableEvents(store, tidiedMax);
    dropped += count;
    if (count < tidiedMax) break;
  }
  return dropped;
}

/**
 * The returned function wakes endpoints with due deliveries, and ends deliveries 72 hours after
 * their round began (CONTRACT 6). It throws if it cannot end a delivery.
 */
export function createRecovery({ store, producer, deliverer, logger }: RecoverDeps) {
  let afterTenantId: string | null = null;
  let afterTargetId: string | null = null;
  let passes = 0;
  let afterAged: CandidateCursor | null = null;

  return async function recover(): Promise<void> {
    // Only this step uses Redis. It does not throw, so a pass also works without Redis.
    await followPause();
    // Waking comes before `endAged`, because it is more urgent, and because an error of `endAged`
    // would prevent it.
    await wakeDue();
    await wakeDueTargets();
    await endAged();
    if (passes % tidyEveryPasses === 0) await tidyEndpoints();
    passes += 1;
  };

  async function tidyEndpoints(): Promise<void> {
    deliverer.forgetOldBreakers();
    const dropped = await dropAllUnreadable(store);
    const deleted = await deleteRetiredEndpoints(store, tidiedMax);
    if (dropped + deleted > 0)
      logger.info(
        { dropped, deleted },
        'tidied webhook endpoints: `dropped` counts events that a poll endpoint no longer keeps, `deleted` counts retired endpoints',
      );
  }

  async function wakeDue(): Promise<void> {
    for (let statement = 0; statement < statementsMax; statement += 1) {
      const found = await findDueEndpoints(store, { afterTenantId, limit: endpointsMax });
      deliverer.wake(found.tenantIds);
      afterTenantId = found.nextAfterTenantId;
      if (afterTenantId === null) break;
    }
  }

  async function wakeDueTargets(): Promise<void> {
    for (let statement = 0; statement < statementsMax; statement += 1) {
      const found = await findDueTargets(store, { afterTargetId, limit: endpointsMax });
      deliverer.wakeTargets(found.targets);
      afterTargetId = found.nextAfterTargetId;
      if (afterTargetId === null) break;
    }
  }

  async function endAged(): Promise<void> {
    const errors: unknown[] = [];
    for (let page = 0; page < agedPagesMax; page += 1) {
      const found = await findAgedRounds(store, { after: afterAged, limit: agedMax });
      afterAged = found.next;
      const { count, failures } = await reconcileTogether(store, aged, found.candidates, (ids) =>
        exhaustAgedRounds(store, ids),
      );
      if (count > 0) logger.info({ count }, 'marked deliveries as exhausted after 72 hours');
      for (const { subjectId, error } of failures) {
        const fields = { err: error, deliveryId: toWireId('dlv', subjectId) };
        logger.warn(fields, 'could not mark a delivery as exhausted');
        errors.push(error);
      }
      if (afterAged === null) break;
    }
    if (errors.length === 0) return;
    throw new AggregateError(errors, `could not mark deliveries as exhausted: ${errors.length}`);
  }

  /**
   * Pauses the deliverer while the queue is paused, or while this process lacks a master key and
   * would use up attempts unsent. Without Redis, the deliverer stays as it is.
   */
  async function followPause(): Promise<void> {
    if (!(await hasMasterKeys(store))) return deliverer.setPaused(true);
    try {
      deliverer.setPaused(await producer.isPaused('webhook'));
    } catch (error) {
      logger.debug({ err: error }, 'could not read whether the webhook queue is paused');
    }
  }
}
