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
import { lockRecoveryInForce } from '../recovery/in-force.ts';
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
 * Settles the stored outcomes of submissions (CONTRACT 4). A submission that has ended or has no
 * stored outcome does not change and is `kept`. The result leaves out unknown ids.
 */
export async function settle(store: Store, submissionIds: readonly string[]): Promise<Ended[]> {
  const ended = await Promise.all(submissionIds.map((id) => settleInBatch(store, id)));
  return ended.filter((one) => one !== null);
}

/**
 * Rejects a pending submission and releases its hold (CONTRACT 3). `state` is null if the
 * submission is unknown.
 */
export async function rejectPending(
  store: Store,
  submissionId: string,
  /**
   * With `onlyOverdue`, rejects only if `dispatchGraceMs` have passed since the dispatch deadline,
   * and no recovery is in force. Otherwise returns `not_pending`, even for `pending`.
   */
  options: { onlyOverdue: boolean; offers?: readonly OfferRecord[] },
): Promise<{ kind: 'rejected' } | { kind: 'not_pending'; state: SubmissionState | null }> {
  const { onlyOverdue, offers } = options;
  let isInRecovery = false;
  // A node may still report that it has begun the submission. The lock excludes a recovery that
  // begins or ends before this transaction commits.
  const isForbidden = async (query: Query): Promise<boolean> => {
    isInRecovery = (await lockRecoveryInForce(query)) !== null;
    return isInRecovery;
  };
  const request = {
    kind: 'reject',
    onlyOverdue,
    ...(offers === undefined ? {} : { offers }),
  } as const;
  const [ended] = await endSubmissions(store, [submissionId], request, {
    ...(onlyOverdue && { isForbidden }),
  });
  if (isInRecovery) return { kind: 'not_pending', state: 'pending' };
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
      /** Empty if the submission had ended before this call. */
      deliveryIds: string[];
    }
  | { kind: 'not_found' };

/**
 * Cancels a tenant's submission. A stored outcome is settled instead (CONTRACT 5). Returns
 * `not_found` also for a rejected submission and for one of another tenant.
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
 * Cancels a submission of any tenant and charges nothing. A stored outcome is settled instead, with
 * its usual charge.
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
    'every settled or cancelled submission has a charge and a refund',
  );
  if (ended.kind === 'moved' && ended.state === 'cancelled')
    return { kind: 'cancelled', nodeId: ended.nodeId, chargedMicros, refundedMicros, deliveryIds };
  return { kind: 'terminal', state: ended.state, chargedMicros, refundedMicros, deliveryIds };
}
