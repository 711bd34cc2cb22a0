import { leaseMs, type OfferRecord, runLimitMs, startDeadlineMs, type Tier } from '@svc/domain';
import { unsealText } from './sealed.ts';
import { payloadBinding } from './submissions.ts';
import type { Store } from './store.ts';

/** A submission that may be offered. */
export interface DispatchableSubmission {
  id: string;
  tier: Tier;
  jobType: string;
  payloadText: string;
  requestId: string;
  /** Until the dispatch deadline. */
  remainingMs: number;
  /** The database's clock when it was loaded. */
  loadedAt: Date;
}

/** Those of `ids` that are pending and before their deadline; what is late is never offered. */
export async function loadForDispatch(
  store: Store,
  ids: string[],
): Promise<DispatchableSubmission[]> {
  const rows = await store.db.$queryRaw<
    {
      id: string;
      tier: Tier;
      job_type: string;
      payload_sealed: Uint8Array;
      request_id: string;
      remaining_ms: number;
      now: Date;
    }[]
  >`
    SELECT id, tier, job_type, payload_sealed, request_id,
      (extract(epoch FROM dispatch_deadline_at - svc_now()) * 1000)::float8 AS remaining_ms,
      svc_now() AS now
    FROM submissions
    WHERE id = ANY(${ids}::uuid[]) AND state = 'pending' AND payload_sealed IS NOT NULL
      AND svc_now() < dispatch_deadline_at`;
  return rows.map((row) => ({
    id: row.id,
    tier: row.tier,
    jobType: row.job_type,
    payloadText: unsealText(store.sealer, payloadBinding(row.id), row.payload_sealed),
    requestId: row.request_id,
    remainingMs: row.remaining_ms,
    loadedAt: row.now,
  }));
}

export type DispatchCommit =
  | { kind: 'dispatched'; payloadText: string; requestId: string }
  | { kind: 'not_pending' };

/**
 * Gives a submission to one node, for good: only while it is pending and before its deadline, so
 * that the first accept to commit wins (CONTRACT.md section 7, "At most once"). The node may be
 * sent the payload only after this has returned `dispatched`. `offers`: whom it was offered to.
 */
export async function commitDispatched(
  store: Store,
  dispatch: { submissionId: string; nodeId: string; offers?: readonly OfferRecord[] },
): Promise<DispatchCommit> {
  const { submissionId, nodeId, offers } = dispatch;
  const offersText = offers === undefined ? null : JSON.stringify(offers);
  const [row] = await store.db.$queryRaw<{ payload_sealed: Uint8Array; request_id: string }[]>`
    UPDATE submissions SET state = 'dispatched', node_id = ${nodeId}::uuid, dispatched_at = svc_now(),
      offers = ${offersText}::jsonb,
      start_deadline_at = svc_now() + ${startDeadlineMs} * interval '1 millisecond',
      run_deadline_at = svc_now() + interval '1 millisecond' * CASE tier
        WHEN 'instant' THEN ${runLimitMs.instant}::int
        WHEN 'priority' THEN ${runLimitMs.priority}::int
        ELSE ${runLimitMs.standard}::int END
    WHERE id = ${submissionId}::uuid AND state = 'pending' AND payload_sealed IS NOT NULL
      AND svc_now() < dispatch_deadline_at
    RETURNING payload_sealed, request_id`;
  if (row === undefined) return { kind: 'not_pending' };
  return {
    kind: 'dispatched',
    payloadText: unsealText(store.sealer, payloadBinding(submissionId), row.payload_sealed),
    requestId: row.request_id,
  };
}

/**
 * Puts right whom a submission was offered to, where more became of it than the statement knew that
 * ended the offering: another offer was open then, or a cancel ended it. An accept that was
 * committed stays one.
 */
export async function recordOffers(
  store: Store,
  submissionId: string,
  offers: readonly OfferRecord[],
): Promise<void> {
  await store.db.$executeRaw`
    UPDATE submissions s SET offers = (
      SELECT jsonb_agg(COALESCE(accepted.record, told.record) ORDER BY told.number)
      FROM jsonb_array_elements(${JSON.stringify(offers)}::jsonb) WITH ORDINALITY AS told (record, number)
      LEFT JOIN jsonb_array_elements(COALESCE(s.offers, '[]'::jsonb)) AS accepted (record)
        ON accepted.record->>'offerId' = told.record->>'offerId' AND accepted.record->>'answer' = 'accepted')
    WHERE id = ${submissionId}::uuid`;
}

export type RunCommit = { kind: 'running'; requestId: string } | { kind: 'refused' };

/**
 * Lets a node begin: only the one it was given to, and only while it is dispatched. Asked again
 * while it runs, the same node gets the same answer and its lease is renewed; it acts once all the
 * same, as it has stored that it began (CONTRACT.md section 7, `start`). `refused`: it has ended,
 * or is not this node's.
 *
 * Whose it is is asked with `IS NOT DISTINCT FROM`, here and wherever the id is known: no index
 * serves that, so that the planner cannot take the index of what a node has in hand instead of the
 * primary key, which it did while the table was small.
 */
export async function commitRunning(
  store: Store,
  { submissionId, nodeId }: { submissionId: string; nodeId: string },
): Promise<RunCommit> {
  const [row] = await store.db.$queryRaw<{ request_id: string }[]>`
    UPDATE submissions SET state = 'running', started_at = COALESCE(started_at, svc_now()),
      lease_expires_at = svc_now() + ${leaseMs} * interval '1 millisecond'
    WHERE id = ${submissionId}::uuid AND node_id IS NOT DISTINCT FROM ${nodeId}::uuid AND state IN ('dispatched', 'running')
    RETURNING request_id`;
  return row === undefined ? { kind: 'refused' } : { kind: 'running', requestId: row.request_id };
}

export interface Assignment {
  submissionId: string;
  state: 'dispatched' | 'running' | 'settling';
}

/** What a node has in hand as the service knows it: what its `hello` is compared with. */
export async function assignmentsOf(store: Store, nodeId: string): Promise<Assignment[]> {
  return store.db.$queryRaw<Assignment[]>`
    SELECT id AS "submissionId", state FROM submissions
    WHERE node_id = ${nodeId}::uuid AND state IN ('dispatched', 'running', 'settling')`;
}
