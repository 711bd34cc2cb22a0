import { formatCredits, toWireId } from '@svc/domain';
import { announceDeliveries, type Producer } from '@svc/queue';
import { failpoint, type Logger } from '@svc/runtime';
import { isUnknownKey, settle, type Ended, type Store } from '@svc/store';
import { traced, type Tracing } from '@svc/tracing';

export interface SettleDeps {
  readonly store: Store;
  readonly producer: Producer;
  readonly logger: Logger;
  readonly tracing: Tracing;
  readonly countSettled: (state: string) => void;
  /** Records the time from the stored outcome to the settlement. */
  readonly timeSettlement: (lagMs: number) => void;
  readonly countUsageCapped: (state: string) => void;
}

export interface UnsettledSubmission {
  readonly submissionId: string;
  readonly error: unknown;
}

/**
 * Settles stored outcomes (CONTRACT 4) and enqueues the wake-up job for their deliveries.
 * Idempotent. Returns the submissions that could not be settled.
 */
export async function settleEach(
  deps: SettleDeps,
  submissionIds: readonly string[],
): Promise<UnsettledSubmission[]> {
  // The store settles concurrent calls together (decision 9).
  const outcomes = await Promise.allSettled(submissionIds.map((id) => settleOne(deps, id)));
  const tenantIds = outcomes.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  await announceAfterCommit(deps, tenantIds);
  return submissionIds.flatMap((submissionId, index) => {
    const outcome = outcomes[index];
    return outcome?.status === 'rejected' ? [{ submissionId, error: outcome.reason }] : [];
  });
}

/**
 * Settles the submissions of a `settlement.v1` job. Throws if some could not be settled, so that
 * the queue retries the job. Those whose master key is missing wait for a reconciler.
 */
export async function settleSubmissions(
  deps: SettleDeps,
  submissionIds: readonly string[],
): Promise<void> {
  const failed = await settleEach(deps, submissionIds);
  const unsettled = failed.filter(({ error }) => !isUnknownKey(error));
  if (unsettled.length === 0) return;
  const errors = unsettled.map(({ error }) => error);
  throw new AggregateError(errors, `${errors.length} submissions could not be settled`);
}

/**
 * Returns an array with the tenant's id if the settlement wrote deliveries, otherwise an empty one.
 * Throws if the submission could not be settled.
 */
async function settleOne(deps: SettleDeps, submissionId: string): Promise<string[]> {
  try {
    const [ended] = await traced(
      deps.tracing,
      { step: 'settle', subjectId: submissionId },
      () => settle(deps.store, [submissionId]),
      ([one]) =>
        one === undefined || one.kind === 'kept' ? null : { 'svc.submission.state': one.state },
    );
    if (ended === undefined || ended.kind === 'kept') return [];
    logSettled(deps, ended);
    await failpoint('settled.committed');
    return ended.deliveryIds.length === 0 ? [] : [ended.tenantId];
  } catch (error) {
    const fields = { err: error, submissionId: toWireId('sub', submissionId) };
    if (isUnknownKey(error))
      deps.logger.warn(fields, 'this process lacks the master key to settle a submission');
    else deps.logger.error(fields, 'a submission could not be settled');
    throw error;
  }
}

function logSettled(deps: SettleDeps, ended: Ended): void {
  const { submissionId, requestId, state, chargedMicros } = ended;
  deps.countSettled(state);
  if (ended.outcomeAgeMs !== null) deps.timeSettlement(ended.outcomeAgeMs);
  if (ended.usageCapped) deps.countUsageCapped(state);
  const charged = chargedMicros === null ? null : formatCredits(chargedMicros);
  deps.logger.info(
    { requestId, submissionId: toWireId('sub', submissionId), state, charged },
    'settled',
  );
}

/**
 * Enqueues the wake-up job for deliveries. An error is only logged, because the reconciler of
 * deliveries also finds the due deliveries in Postgres.
 */
async function announceAfterCommit(
  { producer, logger }: SettleDeps,
  tenantIds: readonly string[],
): Promise<void> {
  try {
    await announceDeliveries(producer, tenantIds);
  } catch (error) {
    logger.warn(
      { err: error, count: tenantIds.length },
      'could not enqueue the wake-up job for deliveries',
    );
  }
}
