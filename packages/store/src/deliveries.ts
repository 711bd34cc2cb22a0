import { webhookAgeMaxMs, webhookTimeoutMs } from '@svc/domain';
import type { Queryable, Store } from './store.ts';

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

/**
 * Ends what is due in a round that began 72 hours ago (CONTRACT.md section 6): attempts that were
 * put off again and again. Returns how many ended, `limit` at most.
 */
export async function exhaustAgedRounds(store: Store, limit: number): Promise<number> {
  return store.db.$executeRaw`
    WITH aged AS (
      SELECT id FROM deliveries
      WHERE status = 'pending' AND round_started_at <= svc_now() - ${webhookAgeMaxMs} * interval '1 millisecond'
        AND next_attempt_at <= svc_now()
      ORDER BY round_started_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    UPDATE deliveries d SET status = 'exhausted', next_attempt_at = NULL, finished_at = svc_now()
    WHERE d.id = ANY(ARRAY(SELECT id FROM aged))`;
}

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
