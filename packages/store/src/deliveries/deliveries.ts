import { webhookAgeMaxMs, webhookTimeoutMs } from '@svc/domain';
import type { ReconcileCandidate } from '../reconciling/reconcile-page.ts';
import type { Queryable, Store } from '../connection/store.ts';

/** Deliveries as the deliverer sees them: what is due, at which endpoint. */

/** How long a claimed attempt may stay unrecorded before the delivery is due again. */
export const attemptClaimMs = 2 * webhookTimeoutMs;

/**
 * Tenants with a delivery that is due and not under way, in the order of their ids from behind
 * `afterTenantId` on, and where to go on (null: that was the last one). It steps from tenant to
 * tenant along the index of what is pending, so that its cost follows the number of tenants and no
 * backlog.
 */
export async function findDueEndpoints(
  store: Store,
  { afterTenantId, limit }: { afterTenantId: string | null; limit: number },
): Promise<{ tenantIds: string[]; nextAfterTenantId: string | null }> {
  const rows = await store.db.$queryRaw<{ tenant_id: string; due: boolean }[]>`
    WITH RECURSIVE endpoint AS (
      (SELECT tenant_id, 1 AS position FROM deliveries
       WHERE status = 'pending' AND tenant_id > COALESCE(${afterTenantId}::uuid, '00000000-0000-0000-0000-000000000000')
       ORDER BY tenant_id LIMIT 1)
      UNION ALL
      SELECT next.tenant_id, e.position + 1 FROM endpoint e CROSS JOIN LATERAL (
        SELECT d.tenant_id FROM deliveries d WHERE d.status = 'pending' AND d.tenant_id > e.tenant_id
        ORDER BY d.tenant_id LIMIT 1
      ) next
      WHERE e.position < ${limit}
    )
    SELECT e.tenant_id, EXISTS (
      SELECT FROM deliveries d
      WHERE d.tenant_id = e.tenant_id AND d.status = 'pending' AND d.next_attempt_at <= svc_now()
    ) AS due
    FROM endpoint e ORDER BY e.position`;
  return {
    tenantIds: rows.filter(({ due }) => due).map((row) => row.tenant_id),
    nextAfterTenantId: rows.length < limit ? null : (rows.at(-1)?.tenant_id ?? null),
  };
}

/** A place in the order of the rounds' beginnings and the deliveries' ids. */
export interface AgedCursor {
  startedAt: string;
  deliveryId: string;
}

/**
 * A page of deliveries that are due in a round that began 72 hours ago (CONTRACT 6),
 * because their attempts were put off again and again: the oldest first, behind `after`. `next` is
 * null at the end.
 */
export async function findAgedRounds(
  store: Store,
  { after, limit }: { after: AgedCursor | null; limit: number },
): Promise<{ rounds: ReconcileCandidate[]; next: AgedCursor | null }> {
  const rows = await store.db.$queryRaw<(ReconcileCandidate & { startedAt: string })[]>`
    SELECT d.id AS "subjectId", d.round_started_at::text AS "startedAt",
      f.next_attempt_at IS NOT NULL AS "failedBefore",
      COALESCE(f.next_attempt_at > svc_now(), false) AS "putOff"
    FROM (
      SELECT id, round_started_at FROM deliveries
      WHERE status = 'pending' AND round_started_at <= svc_now() - ${webhookAgeMaxMs} * interval '1 millisecond'
        AND next_attempt_at <= svc_now()
        AND (round_started_at, id) > (${after?.startedAt ?? '-infinity'}::timestamptz, ${after?.deliveryId ?? nilId}::uuid)
      ORDER BY round_started_at, id LIMIT ${limit}) d
    LEFT JOIN LATERAL (
      SELECT next_attempt_at FROM reconcile_failures
      WHERE reconciler = 'webhook' AND subject_id = d.id LIMIT 1) f ON true
    ORDER BY d.round_started_at, d.id`;
  const last = rows.length < limit ? undefined : rows.at(-1);
  return {
    rounds: rows.map(({ subjectId, failedBefore, putOff }) => ({
      subjectId,
      failedBefore,
      putOff,
    })),
    next: last === undefined ? null : { startedAt: last.startedAt, deliveryId: last.subjectId },
  };
}

/**
 * Ends those of these deliveries that are due and whose round is still over by its age. One that is
 * locked is left to the next round. Returns how many ended.
 */
export async function exhaustAgedRounds(
  store: Store,
  deliveryIds: readonly string[],
): Promise<number> {
  return store.db.$executeRaw`
    WITH aged AS (
      SELECT id FROM deliveries
      WHERE id = ANY(${deliveryIds}::uuid[]) AND status = ${'pending'} AND next_attempt_at <= svc_now()
        AND round_started_at <= svc_now() - ${webhookAgeMaxMs} * interval '1 millisecond'
      FOR UPDATE SKIP LOCKED
    )
    UPDATE deliveries d SET status = 'exhausted', next_attempt_at = NULL, finished_at = svc_now()
    WHERE d.id = ANY(ARRAY(SELECT id FROM aged))`;
}

const nilId = '00000000-0000-0000-0000-000000000000';

/** Ends what is still pending for a tenant whose URL is gone, without an attempt. */
export async function dropPendingDeliveries(tx: Queryable, tenantId: string): Promise<void> {
  // Locked in the order of their ids, as where attempts are recorded, so that the two never deadlock.
  await tx.$executeRaw`
    WITH pending AS MATERIALIZED (
      SELECT id FROM deliveries WHERE tenant_id = ${tenantId}::uuid AND status = 'pending'
      ORDER BY id FOR UPDATE
    )
    UPDATE deliveries d SET status = 'dropped', next_attempt_at = NULL, finished_at = svc_now()
    WHERE d.id = ANY(ARRAY(SELECT id FROM pending))`;
}
