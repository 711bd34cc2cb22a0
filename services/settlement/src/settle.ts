import { formatCredits, toWireId } from '@svc/domain';
import { enqueueDeliveries, type Producer } from '@svc/queue';
import { failpoint, type Logger } from '@svc/runtime';
import { settle, type Ended, type Store } from '@svc/store';

/** What settling needs. */
export interface SettleDeps {
  readonly store: Store;
  readonly producer: Producer;
  readonly logger: Logger;
  readonly countSettled: (state: string) => void;
}

/**
 * Settles stored outcomes and tells the webhook deliverer of the events that were written with
 * them (SPEC section 1; DESIGN section 7: enqueue after the commit). Idempotent: what is settled
 * already stays as it is. Where the batch as a whole fails, each is settled by itself, so that one
 * fails alone. Throws where any could not be settled.
 */
export async function settleSubmissions(
  deps: SettleDeps,
  submissionIds: readonly string[],
): Promise<void> {
  if (submissionIds.length === 0) return;
  try {
    await settleBatch(deps, submissionIds);
  } catch (error) {
    if (submissionIds.length === 1) throw error;
    deps.logger.warn({ err: error }, 'a batch could not be settled, trying one by one');
    await settleOneByOne(deps, submissionIds);
  }
}

async function settleOneByOne(deps: SettleDeps, submissionIds: readonly string[]): Promise<void> {
  const errors: unknown[] = [];
  for (const submissionId of submissionIds) {
    try {
      await settleBatch(deps, [submissionId]);
    } catch (error) {
      const id = toWireId('sub', submissionId);
      deps.logger.error({ err: error, submissionId: id }, 'a submission could not be settled');
      errors.push(error);
    }
  }
  if (errors.length > 0) {
    throw new AggregateError(errors, `${errors.length} submissions could not be settled`);
  }
}

async function settleBatch(deps: SettleDeps, submissionIds: readonly string[]): Promise<void> {
  const ended = await settle(deps.store, [...submissionIds]);
  const moved = ended.filter(({ kind }) => kind === 'moved');
  for (const one of moved) tell(deps, one);
  if (moved.length > 0) await failpoint('settled.committed');
  await enqueueAfterCommit(
    deps,
    ended.flatMap(({ deliveryIds }) => deliveryIds),
  );
}

function tell(deps: SettleDeps, ended: Ended): void {
  const { submissionId, requestId, state, chargedMicros } = ended;
  deps.countSettled(state);
  const charged = chargedMicros === null ? null : formatCredits(chargedMicros);
  deps.logger.info(
    { requestId, submissionId: toWireId('sub', submissionId), state, charged },
    'settled',
  );
}

/** A delivery that cannot be enqueued is due in Postgres, where its reconciler finds it. */
async function enqueueAfterCommit(
  { producer, logger }: SettleDeps,
  deliveryIds: readonly string[],
): Promise<void> {
  try {
    await enqueueDeliveries(producer, deliveryIds);
  } catch (error) {
    logger.warn({ err: error, count: deliveryIds.length }, 'could not enqueue deliveries');
  }
}
