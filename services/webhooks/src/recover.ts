import { toWireId } from '@svc/domain';
import type { Producer } from '@svc/queue';
import type { Logger } from '@svc/runtime';
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
  readonly deliverer: Pick<Deliverer, 'wake' | 'wakeTargets' | 'setPaused'>;
  readonly logger: Logger;
}

/**
 * The most tenants with pending deliveries in one statement, and the most statements in one pass.
 */
const endpointsMax = 1_000;
const statementsMax = 20;
/** The same limits for deliveries whose round is too old. */
const agedMax = 500;
const agedPagesMax = 20;
/** Only every so many passes: nobody can see what it deletes. */
const tidyEveryPasses = 60;
const tidiedMax = 500;
const aged = { reconciler: 'webhook', kind: 'aged_delivery' } as const;

/**
 * The reconciler of deliveries. Each pass finds in Postgres the deliveries that are due and not in
 * flight, such as retries that no timer remembers and deliveries that Redis has lost. It also ends
 * deliveries after 72 hours. Its only input is the position at which the last pass stopped, and it
 * needs no Redis. Waking an endpoint unnecessarily does no harm. Deliveries that cannot be ended
 * are retried with backoff and block no others. Throws if Postgres does not answer, or if a
 * delivery could not be ended.
 */
export function createRecovery({ store, producer, deliverer, logger }: RecoverDeps) {
  let afterTenantId: string | null = null;
  let afterTargetId: string | null = null;
  let passes = 0;
  let afterAged: CandidateCursor | null = null;

  return async function recover(): Promise<void> {
    await followPause();
    // First, because it is more urgent and a single row cannot make it fail.
    await wakeDue();
    await wakeDueTargets();
    await endAged();
    if (passes % tidyEveryPasses === 0) await tidyEndpoints();
    passes += 1;
  };

  /** Ends events that no tenant can read any more, and deletes endpoints that are gone. */
  async function tidyEndpoints(): Promise<void> {
    const dropped = await dropUnreadableEvents(store, tidiedMax);
    const deleted = await deleteRetiredEndpoints(store, tidiedMax);
    if (dropped + deleted > 0) logger.info({ dropped, deleted }, 'webhook endpoints tidied');
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
      const ended = await reconcileTogether(store, aged, found.candidates, (ids) =>
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

  /** Without Redis the last known pause state stays. */
  async function followPause(): Promise<void> {
    try {
      deliverer.setPaused(await producer.isPaused('webhook'));
    } catch (error) {
      logger.debug({ err: error }, 'could not read whether the queue is paused');
    }
  }
}
