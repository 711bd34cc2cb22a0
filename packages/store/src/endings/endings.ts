import {
  assertInvariant,
  formatCredits,
  type OfferRecord,
  type SubmissionState,
  toWireId,
} from '@svc/domain';
import { appendAudit, type Author } from '../audit-log/audit.ts';
import { batched } from '../connection/batching.ts';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { endSubmissions } from './end-submissions.ts';
import type { Ended } from './plans.ts';

export type { Ended } from './plans.ts';

const settleInBatch = batched<string, Ended | null>({
  run: async (store, submissionIds) => {
    const ended = await endSubmissions(store, [...new Set(submissionIds)], { kind: 'settle' });
    const byId = new Map(ended.map((one) => [one.submissionId, one]));
    return submissionIds.map((id, index) => {
      const one = byId.get(id) ?? null;
      // If an id occurs more than once in a batch, only its first call may get `moved` and delivery
      // ids. Each further call gets `kept`.
      const isRepeated = one !== null && submissionIds.indexOf(id) < index;
      return isRepeated ? { ...one, kind: 'kept', deliveryIds: [] } : one;
    });
  },
  shared: { intent: 'settle', submissionIdOf: (id) => id },
});

/**
 * Settles stored outcomes (CONTRACT 4). A submission without an outcome does not change, and a
 * repeated call changes nothing; both give `kept`. Calls that wait at the same time share a
 * transaction. The result leaves out unknown ids.
 */
export async function settle(store: Store, submissionIds: readonly string[]): Promise<Ended[]> {
  const ended = await Promise.all(submissionIds.map((id) => settleInBatch(store, id)));
  return ended.filter((one) => one !== null);
}

/**
 * Rejects a pending submission for which no node was found. Its hold is released, and its
 * idempotency key is free again. The tenant sees neither the submission nor its hold (CONTRACT 3).
 * With `onlyOverdue`, the submission is rejected only after the dispatch deadline and
 * `dispatchGraceMs`. `offers`: the offers of the submission, with their answers.
 *
 * Returns `not_pending` with the state if the submission is not rejected. The state is `pending` if
 * it is too early to reject, and null if the submission is unknown.
 */
export async function rejectPending(
  store: Store,
  submissionId: string,
  options: { onlyOverdue: boolean; offers?: readonly OfferRecord[] },
): Promise<{ kind: 'rejected' } | { kind: 'not_pending'; state: SubmissionState | null }> {
  const { onlyOverdue, offers } = options;
  const [ended] = await endSubmissions(store, [submissionId], {
    kind: 'reject',
    onlyOverdue,
    ...(offers === undefined ? {} : { offers }),
  });
  if (ended?.kind === 'moved') return { kind: 'rejected' };
  return { kind: 'not_pending', state: ended?.state ?? null };
}

export type CancelOutcome =
  | {
      kind: 'cancelled';
      nodeId: string | null;
      chargedMicros: bigint;
      refundedMicros: bigint;
      deliveryIds: string[];
    }
  | {
      kind: 'terminal';
      state: SubmissionState;
      chargedMicros: bigint;
      refundedMicros: bigint;
      deliveryIds: string[];
    }
  | { kind: 'not_found' };

/**
 * Cancels a tenant's submission (CONTRACT 5). If an outcome is already stored, the call settles
 * that outcome instead. It then returns `terminal`, with the deliveries of the settlement. If the
 * submission had already ended, it returns `terminal` without deliveries. Returns `not_found` for
 * an unknown or rejected submission, and for a submission of another tenant.
 */
export async function cancelSubmission(
  store: Store,
  request: { submissionId: string; tenantId: string; by: 'tenant' },
): Promise<CancelOutcome> {
  const { submissionId, tenantId, by } = request;
  const [ended] = await endSubmissions(store, [submissionId], { kind: 'cancel', by }, { tenantId });
  return cancelOutcomeOf(ended);
}

/**
 * Cancels a submission of any tenant for an operator. The whole hold is released (CONTRACT 4), and
 * the audit log records the operator. A stored outcome is settled instead, as in
 * `cancelSubmission`.
 */
export async function cancelAsOperator(
  store: Store,
  submissionId: string,
  by: Author,
): Promise<CancelOutcome> {
  const [ended] = await endSubmissions(
    store,
    [submissionId],
    { kind: 'cancel', by: 'operator' },
    {
      alsoWrite: async (query, [one]) => {
        if (one?.kind === 'moved') await auditCancel(query, one, by);
      },
    },
  );
  return cancelOutcomeOf(ended);
}

async function auditCancel(query: Query, ended: Ended, by: Author): Promise<void> {
  await appendAudit(query, by, {
    action: 'submission.cancel',
    subject: { kind: 'submission', id: toWireId('sub', ended.submissionId) },
    before: null,
    after: { state: ended.state, refunded: formatCredits(ended.refundedMicros ?? 0n) },
  });
}

function cancelOutcomeOf(ended: Ended | undefined): CancelOutcome {
  if (ended === undefined || ended.state === 'rejected') return { kind: 'not_found' };
  const { chargedMicros, refundedMicros, deliveryIds } = ended;
  assertInvariant(
    chargedMicros !== null && refundedMicros !== null,
    'a submission that has ended has a charge and a refund',
  );
  if (ended.kind === 'moved' && ended.state === 'cancelled')
    return { kind: 'cancelled', nodeId: ended.nodeId, chargedMicros, refundedMicros, deliveryIds };
  return { kind: 'terminal', state: ended.state, chargedMicros, refundedMicros, deliveryIds };
}
