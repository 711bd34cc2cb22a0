import { type SubmissionState, toWireId, withoutFailureMessage } from '@svc/domain';
import { appendAudit, type Author } from '../audit-log/audit.ts';
import type { Query } from '../connection/query.ts';
import { statement } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';
import {
  type CandidatePage,
  candidatesSql,
  pageOf,
  type PageOptions,
  pageParameters,
  pageValues,
  type ReconcileCandidate,
} from '../reconciling/reconcile-page.ts';
import { eventPlace, unsealText } from '../sealing/sealed.ts';

/**
 * A purge deletes the personal data of a submission: payload, result and failure message. The rest
 * stays, so a request that repeats the idempotency key still gets the same answer.
 */

/**
 * A page of submissions that ended at least `retentionDays` ago and are not purged. The page is in
 * the order of creation, the oldest first.
 */
export async function findExpired(
  store: Store,
  { retentionDays, ...page }: PageOptions & { retentionDays: number },
): Promise<CandidatePage<ReconcileCandidate>> {
  const rows = await selectExpired<ReconcileCandidate & { at: string }>(store.query, {
    ...pageValues(page),
    retention_days: retentionDays,
  });
  return pageOf(rows, page.limit);
}

const selectExpired = statement(
  { ...pageParameters, retention_days: 'int' },
  candidatesSql('purge', {
    rows: `
    SELECT id, created_at AS at FROM submissions
    WHERE payload_sealed IS NOT NULL
      AND finished_at <= svc_now() - $retention_days * interval '1 day'
      AND created_at <= svc_now() - $retention_days * interval '1 day'
      AND (created_at, id) > ($after_at, $after_id)
    ORDER BY created_at, id LIMIT $limit`,
  }),
);

/**
 * Purges those of `submissionIds` that have ended, in one transaction. Skips those that another
 * worker has locked. Returns how many were purged.
 */
export async function purgeExpired(
  store: Store,
  submissionIds: readonly string[],
): Promise<number> {
  return store.transaction(async (query) => {
    const ended = await query<{ id: string; purged: boolean }>(
      `SELECT id, payload_sealed IS NULL AS purged FROM submissions
       WHERE id = ANY($1::uuid[]) AND finished_at IS NOT NULL FOR UPDATE SKIP LOCKED`,
      [submissionIds],
    );
    const ids = ended.filter(({ purged }) => !purged).map(({ id }) => id);
    if (ids.length > 0) await purge(store, query, ids);
    return ids.length;
  });
}

async function purge(store: Store, query: Query, ids: string[]): Promise<void> {
  await purgeEvents(store, query, ids);
  await query(
    'UPDATE submissions SET payload_sealed = NULL, outcome_sealed = NULL WHERE id = ANY($1::uuid[])',
    [ids],
  );
}

interface PurgedEvent {
  id: string;
  tenantId: string;
  type: string;
  sealed: Uint8Array;
}

/**
 * Removes the failure message from the bodies of `submission.failed` events. Keeps the rows,
 * because these events may be sent again.
 */
async function purgeEvents(store: Store, query: Query, submissionIds: string[]): Promise<void> {
  const events = await query<PurgedEvent>(
    `SELECT id, tenant_id AS "tenantId", type, body_sealed AS sealed FROM events
     WHERE submission_id = ANY($1::uuid[]) AND type = 'submission.failed'
     ORDER BY id FOR UPDATE`,
    [submissionIds],
  );
  if (events.length === 0) return;
  const rows = events.map((event) => {
    const place = eventPlace(event);
    const body = withoutFailureMessage(unsealText(store.sealer, place, event.sealed));
    return { id: event.id, body: Buffer.from(store.sealer.seal(place, body)).toString('base64') };
  });
  await query(
    `UPDATE events e SET body_sealed = decode(r.body, 'base64')
     FROM jsonb_to_recordset($1::jsonb) AS r (id uuid, body text)
     WHERE e.id = r.id AND e.id = ANY($2::uuid[])`,
    [JSON.stringify(rows), events.map(({ id }) => id)],
  );
}

export type PurgeOutcome =
  | { kind: 'purged' | 'purged_before'; submission: PurgedSubmission }
  /** The submission has not ended. A node may still receive the payload or report an outcome. */
  | { kind: 'in_flight'; state: SubmissionState }
  | { kind: 'unknown_submission' };

interface PurgedSubmission {
  tenantId: string;
  state: SubmissionState;
}

/**
 * Purges one ended submission immediately and writes an audit entry about the purge. If the
 * submission was purged before, the call writes nothing.
 */
export async function purgeSubmission(
  store: Store,
  submissionId: string,
  by: Author,
): Promise<PurgeOutcome> {
  return store.transaction(async (query) => {
    const [row] = await query<LockedRow>(
      `SELECT tenant_id AS "tenantId", state, finished_at IS NOT NULL AS "hasEnded",
         payload_sealed IS NULL AND outcome_sealed IS NULL AS "isPurged"
       FROM submissions WHERE id = $1::uuid FOR UPDATE`,
      [submissionId],
    );
    if (row === undefined) return { kind: 'unknown_submission' };
    const { tenantId, state, hasEnded, isPurged } = row;
    if (!hasEnded) return { kind: 'in_flight', state };
    const submission = { tenantId, state };
    if (isPurged) return { kind: 'purged_before', submission };
    await purge(store, query, [submissionId]);
    await appendAudit(query, by, {
      action: 'submission.purge',
      subject: { kind: 'submission', id: toWireId('sub', submissionId) },
      before: null,
      after: { tenantId: toWireId('tnt', tenantId), state },
    });
    return { kind: 'purged', submission };
  });
}

interface LockedRow extends PurgedSubmission {
  hasEnded: boolean;
  isPurged: boolean;
}
