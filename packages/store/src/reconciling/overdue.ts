import { dispatchGraceMs } from '@svc/domain';
import type { Store } from '../connection/store.ts';

/** What time alone has made wrong with a submission. */
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

/** An overdue submission with what is known of earlier tries. */
export interface OverdueCandidate extends OverdueSubmission {
  failedBefore: boolean;
  /** Its backoff is not over yet. */
  putOff: boolean;
}

/** A place in the order of due time and id. */
export interface OverdueCursor {
  dueAt: string;
  submissionId: string;
}

/** How long a stored outcome may wait for its settlement before the reconciler takes it up. */
export const unsettledGraceMs = 2_000;

/**
 * A page of what should have gone on by itself and has not, oldest first, behind `after`. Reading
 * it changes nothing; each case is checked again where it is reconciled. The page holds rows that
 * are put off too, so that its cost has a bound. `next` is null at the end.
 */
export async function findOverdue(
  store: Store,
  { after, limit }: { after: OverdueCursor | null; limit: number },
): Promise<{ candidates: OverdueCandidate[]; next: OverdueCursor | null }> {
  const rows = await store.db.$queryRaw<(OverdueCandidate & { dueAt: string })[]>`
    SELECT c.id AS "submissionId", c.node_id AS "nodeId", CASE
        WHEN state = 'pending' THEN 'stale_pending'
        WHEN state = 'settling' THEN 'unsettled'
        WHEN run_deadline_at <= svc_now() THEN 'run_limit'
        WHEN state = 'dispatched' THEN 'not_started'
        ELSE 'lease_expired' END AS kind,
      c.due_at::text AS "dueAt", f.next_attempt_at IS NOT NULL AS "failedBefore",
      COALESCE(f.next_attempt_at > svc_now(), false) AS "putOff"
    FROM (
      SELECT id, node_id, state, run_deadline_at,
        svc_due_at(state, dispatch_deadline_at, start_deadline_at, lease_expires_at, run_deadline_at, outcome_at) AS due_at
      FROM submissions
      WHERE state IN ('pending', 'dispatched', 'running', 'settling')
        AND svc_due_at(state, dispatch_deadline_at, start_deadline_at, lease_expires_at, run_deadline_at, outcome_at) <= svc_now()
        AND (svc_due_at(state, dispatch_deadline_at, start_deadline_at, lease_expires_at, run_deadline_at, outcome_at), id)
          > (${after?.dueAt ?? '-infinity'}::timestamptz, ${after?.submissionId ?? nilId}::uuid)
        AND CASE state
          WHEN 'pending' THEN dispatch_deadline_at <= svc_now() - ${dispatchGraceMs} * interval '1 millisecond'
          WHEN 'settling' THEN outcome_at <= svc_now() - ${unsettledGraceMs} * interval '1 millisecond'
          ELSE true END
      ORDER BY svc_due_at(state, dispatch_deadline_at, start_deadline_at, lease_expires_at, run_deadline_at, outcome_at), id
      LIMIT ${limit}) c
    LEFT JOIN LATERAL (
      SELECT next_attempt_at FROM reconcile_failures
      WHERE reconciler = 'settlement' AND subject_id = c.id LIMIT 1) f ON true
    ORDER BY c.due_at, c.id`;
  const last = rows.length < limit ? undefined : rows.at(-1);
  return {
    candidates: rows.map(({ submissionId, kind, nodeId, failedBefore, putOff }) => ({
      submissionId,
      kind,
      nodeId,
      failedBefore,
      putOff,
    })),
    next: last === undefined ? null : { dueAt: last.dueAt, submissionId: last.submissionId },
  };
}

const nilId = '00000000-0000-0000-0000-000000000000';
