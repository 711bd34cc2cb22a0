import type { Producer } from '@svc/queue';
import type { Logger } from '@svc/runtime';
import {
  clearReconcileFailures,
  exhaustAgedRounds,
  findAgedRounds,
  findDueEndpoints,
  isAnswerLost,
  recordReconcileFailures,
  type AgedCursor,
  type AgedRound,
  type ReconcileFailure,
  type Store,
} from '@svc/store';
import { toWireId } from '@svc/domain';
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
    const failures: ReconcileFailure[] = [];
    for (let page = 0; page < agedPagesMax; page += 1) {
      const found = await findAgedRounds(store, { after: afterAged, limit: agedMax });
      afterAged = found.next;
      const due = found.rounds.filter(({ putOff }) => !putOff);
      failures.push(...(await endPage(due)));
      if (afterAged === null) break;
    }
    if (failures.length === 0) return;
    const errors = failures.map(({ error }) => error);
    throw new AggregateError(errors, `${errors.length} aged deliveries could not be ended`);
  }

  /** Ends a page together; if the database refuses that, one by one, and remembers what failed. */
  async function endPage(due: readonly AgedRound[]): Promise<ReconcileFailure[]> {
    if (due.length === 0) return [];
    const ids = due.map(({ deliveryId }) => deliveryId);
    const failures: ReconcileFailure[] = [];
    let count = 0;
    try {
      count = await exhaustAgedRounds(store, ids);
    } catch (error) {
      if (isAnswerLost(error)) throw error;
      for (const subjectId of ids) {
        try {
          count += await exhaustAgedRounds(store, [subjectId]);
        } catch (single) {
          if (isAnswerLost(single)) throw single;
          const deliveryId = toWireId('dlv', subjectId);
          logger.warn({ err: single, deliveryId }, 'could not end an aged delivery');
          failures.push({ subjectId, kind: 'aged_delivery', error: single });
        }
      }
    }
    if (count > 0) logger.info({ count }, 'deliveries exhausted by their age');
    await recordReconcileFailures(store, 'webhook', failures);
    const failed = new Set(failures.map(({ subjectId }) => subjectId));
    const cleared = due.filter((one) => one.failedBefore && !failed.has(one.deliveryId));
    await clearReconcileFailures(
      store,
      'webhook',
      cleared.map(({ deliveryId }) => deliveryId),
    );
    return failures;
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
