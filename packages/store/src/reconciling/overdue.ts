import { dispatchGraceMs, firstState, transitions } from '@svc/domain';
import { statement } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';
import { isInFlight } from '../schema/submission-states.ts';

/** Why a submission is overdue. */
export type OverdueKind =
  | 'stale_pending'
  | 'not_started'
  | 'lease_expired'
  | 'run_limit'
  | 'unsettled';

export interface OverdueSubmission {
  submissionId: string;
  kind: OverdueKind;
  nodeId: string | null;
}

/** An overdue submission with the result of earlier attempts. */
export interface OverdueCandidate extends OverdueSubmission {
  failedBefore: boolean;
  /** Its backoff has not ended. */
  isInBackoff: boolean;
}

/** A position in the order of due time and id. */
export interface OverdueCursor {
  dueAt: string;
  submissionId: string;
}

/** A stored outcome that is not settled after this time is taken by the reconciler. */
export const unsettledGraceMs = 2_000;

/**
 * A page of overdue submissions, oldest first, after `after`. Reading changes nothing; each
 * submission is checked again when it is reconciled. The page includes rows in backoff, so that its
 * cost is bounded. `next` is null at the end.
 */
export async function findOverdue(
  store: Store,
  { after, limit }: { after: OverdueCursor | null; limit: number },
): Promise<{ candidates: OverdueCandidate[]; next: OverdueCursor | null }> {
  const rows = await findDue<OverdueCandidate & { dueAt: string }>(store.query, {
    after_due_at: after?.dueAt ?? '-infinity',
    after_id: after?.submissionId ?? nilId,
    limit,
    pending: firstState,
    dispatched: transitions.dispatch.to,
    settling: transitions.store_outcome.to,
  });
  const last = rows.length < limit ? undefined : rows.at(-1);
  return {
    candidates: rows.map(({ submissionId, kind, nodeId, failedBefore, isInBackoff }) => ({
      submissionId,
      kind,
      nodeId,
      failedBefore,
      isInBackoff,
    })),
    next: last === undefined ? null : { dueAt: last.dueAt, submissionId: last.submissionId },
  };
}

const dueAt =
  'svc_due_at(state, dispatch_deadline_at, start_deadline_at, lease_expires_at, run_deadline_at, outcome_at)';

const findDue = statement(
  {
    after_due_at: 'timestamptz',
    after_id: 'uuid',
    limit: 'int',
    pending: 'text',
    dispatched: 'text',
    settling: 'text',
  },
  `
  SELECT c.id AS "submissionId", c.node_id AS "nodeId", CASE
      WHEN state = $pending THEN 'stale_pending'
      WHEN state = $settling THEN 'unsettled'
      WHEN run_deadline_at <= svc_now() THEN 'run_limit'
      WHEN state = $dispatched THEN 'not_started'
      ELSE 'lease_expired' END AS kind,
    c.due_at::text AS "dueAt", f.next_attempt_at IS NOT NULL AS "failedBefore",
    COALESCE(f.next_attempt_at > svc_now(), false) AS "isInBackoff"
  FROM (
    SELECT id, node_id, state, run_deadline_at, ${dueAt} AS due_at
    FROM submissions
    WHERE state ${isInFlight}
      AND ${dueAt} <= svc_now() AND (${dueAt}, id) > ($after_due_at, $after_id)
      AND CASE state
        WHEN $pending THEN dispatch_deadline_at <= svc_now() - ${dispatchGraceMs} * interval '1 millisecond'
        WHEN $settling THEN outcome_at <= svc_now() - ${unsettledGraceMs} * interval '1 millisecond'
        ELSE true END
    ORDER BY ${dueAt}, id
    LIMIT $limit) c
  LEFT JOIN LATERAL (
    SELECT next_attempt_at FROM reconcile_failures
    WHERE reconciler = 'settlement' AND subject_id = c.id LIMIT 1) f ON true
  ORDER BY c.due_at, c.id`,
);

const nilId = '00000000-0000-0000-0000-000000000000';
