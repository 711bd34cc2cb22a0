import { formatCredits, toWireId } from '@svc/domain';
import { announceDeliveries, type Producer } from '@svc/queue';
import { failpoint, type Logger } from '@svc/runtime';
import { settle, type Ended, type Store } from '@svc/store';

/** What settling needs. */
export interface SettleDeps {
  readonly store: Store;
  readonly producer: Producer;
  readonly logger: Logger;
  readonly countSettled: (state: string) => void;
  /** By the state it ended in. */
  readonly countUsageCapped: (state: string) => void;
}

export interface UnsettledSubmission {
  readonly submissionId: string;
  readonly error: unknown;
}

/**
 * Settles stored outcomes and tells the webhook deliverer of the events that were written with
 * them (CONTRACT 4; docs/decisions/0001: enqueue after the commit). Idempotent: what is settled
 * already stays as it is. The store settles together what is asked for at the same time, and one
 * that fails fails alone. Returns those that could not be settled.
 */
export async function settleEach(
  deps: SettleDeps,
  submissionIds: readonly string[],
): Promise<UnsettledSubmission[]> {
  const outcomes = await Promise.allSettled(submissionIds.map((id) => settleOne(deps, id)));
  const told = outcomes.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  await announceAfterCommit(deps, told);
  return submissionIds.flatMap((submissionId, index) => {
    const outcome = outcomes[index];
    return outcome?.status === 'rejected' ? [{ submissionId, error: outcome.reason }] : [];
  });
}

/** The same for a job, which is retried as a whole: throws if any could not be settled. */
export async function settleSubmissions(
  deps: SettleDeps,
  submissionIds: readonly string[],
): Promise<void> {
  const unsettled = await settleEach(deps, submissionIds);
  if (unsettled.length === 0) return;
  const errors = unsettled.map(({ error }) => error);
  throw new AggregateError(errors, `${errors.length} submissions could not be settled`);
}

/** The tenant, where events to be delivered to it were written with the end of this submission. */
async function settleOne(deps: SettleDeps, submissionId: string): Promise<string[]> {
  try {
    const [ended] = await settle(deps.store, [submissionId]);
    if (ended === undefined || ended.kind === 'kept') return [];
    tell(deps, ended);
    await failpoint('settled.committed');
    return ended.deliveryIds.length === 0 ? [] : [ended.tenantId];
  } catch (error) {
    deps.logger.error({ err: error, submissionId }, 'a submission could not be settled');
    throw error;
  }
}

function tell(deps: SettleDeps, ended: Ended): void {
  const { submissionId, requestId, state, chargedMicros } = ended;
  deps.countSettled(state);
  if (ended.usageCapped) deps.countUsageCapped(state);
  const charged = chargedMicros === null ? null : formatCredits(chargedMicros);
  deps.logger.info(
    { requestId, submissionId: toWireId('sub', submissionId), state, charged },
    'settled',
  );
}

/** A delivery that is not announced is due in Postgres, where its reconciler finds it. */
async function announceAfterCommit(
  { producer, logger }: SettleDeps,
  tenantIds: readonly string[],
): Promise<void> {
  try {
    await announceDeliveries(producer, tenantIds);
  } catch (error) {
    logger.warn({ err: error, count: tenantIds.length }, 'could not announce deliveries');
  }
}
