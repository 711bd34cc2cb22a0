import { dispatchGraceMs, firstState, transitions } from '@svc/domain';
import { statement } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';
import {
  type CandidatePage,
  candidatesSql,
  pageOf,
  type PageOptions,
  pageValues,
  type ReconcileCandidate,
} from './reconcile-page.ts';

export type OverdueKind =
  | 'stale_pending'
  | 'not_started'
  | 'lease_expired'
  | 'run_limit'
  | 'unsettled';

export interface OverdueCandidate extends ReconcileCandidate {
  kind: OverdueKind;
  nodeId: string | null;
}

/** If a stored outcome is not settled after this time, the reconciler settles it. */
export const unsettledGraceMs = 2_000;

/**
 * A page of overdue submissions, sorted by id. While a recovery is in force, the page has only
 * submissions with a stored outcome.
 */
export async function findOverdue(
  store: Store,
  page: PageOptions,
): Promise<CandidatePage<OverdueCandidate>> {
  // The page is sorted by `at` and id. Here `at` is the same in every row, so `after_id` is enough.
  const { after_id, limit } = pageValues(page);
  const rows = await findDue<OverdueCandidate & { at: string }>(store.query, {
    after_id,
    limit,
    pending: firstState,
    dispatched: transitions.dispatch.to,
    settling: transitions.store_outcome.to,
  });
  return pageOf(rows, page.limit);
}

const dueAt =
  'svc_due_at(state, dispatch_deadline_at, start_deadline_at, lease_expires_at, run_deadline_at, outcome_at)';

const findDue = statement(
  { after_id: 'uuid', limit: 'int', pending: 'text', dispatched: 'text', settling: 'text' },
  candidatesSql('settlement', {
    columns: `c.node_id AS "nodeId", CASE
      WHEN c.state = $pending THEN 'stale_pending'
      WHEN c.state = $settling THEN 'unsettled'
      WHEN c.run_deadline_at <= svc_now() THEN 'run_limit'
      WHEN c.state = $dispatched THEN 'not_started'
      ELSE 'lease_expired' END AS kind,`,
    rows: `
    SELECT id, node_id, state, run_deadline_at, '-infinity'::timestamptz AS at
    FROM submissions
    WHERE id = ANY(ARRAY(SELECT submission_id FROM submissions_in_flight WHERE submission_id > $after_id))
      AND ${dueAt} <= svc_now()
      AND CASE state
        WHEN $pending THEN dispatch_deadline_at <= svc_now() - ${dispatchGraceMs} * interval '1 millisecond'
        WHEN $settling THEN outcome_at <= svc_now() - ${unsettledGraceMs} * interval '1 millisecond'
        ELSE true END
      AND (state = $settling OR NOT EXISTS (SELECT FROM recoveries WHERE ended_at IS NULL))
    ORDER BY id
    LIMIT $limit`,
  }),
);
