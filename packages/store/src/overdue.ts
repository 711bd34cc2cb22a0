import { dispatchGraceMs } from '@svc/domain';
import type { Store } from './store.ts';

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

/** How long a stored outcome may wait for its settlement before the reconciler takes it up. */
export const unsettledGraceMs = 2_000;

/**
 * What should have gone on by itself and has not, oldest first: input-free, from Postgres alone
 * (DESIGN.md section 7). Reading it changes nothing; each case is checked again where it is mended.
 */
export async function findOverdue(store: Store, limit: number): Promise<OverdueSubmission[]> {
  return store.db.$queryRaw<OverdueSubmission[]>`
    SELECT id AS "submissionId", node_id AS "nodeId", CASE
        WHEN state = 'pending' THEN 'stale_pending'
        WHEN state = 'settling' THEN 'unsettled'
        WHEN run_deadline_at <= svc_now() THEN 'run_limit'
        WHEN state = 'dispatched' THEN 'not_started'
        ELSE 'lease_expired' END AS kind
    FROM submissions
    WHERE state IN ('pending', 'dispatched', 'running', 'settling')
      AND svc_due_at(state, dispatch_deadline_at, start_deadline_at, lease_expires_at, run_deadline_at, outcome_at) <= svc_now()
      AND CASE state
        WHEN 'pending' THEN dispatch_deadline_at <= svc_now() - ${dispatchGraceMs} * interval '1 millisecond'
        WHEN 'settling' THEN outcome_at <= svc_now() - ${unsettledGraceMs} * interval '1 millisecond'
        ELSE true END
    ORDER BY svc_due_at(state, dispatch_deadline_at, start_deadline_at, lease_expires_at, run_deadline_at, outcome_at)
    LIMIT ${limit}`;
}
