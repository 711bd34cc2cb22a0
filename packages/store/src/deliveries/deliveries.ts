import { type DeliveryStatus, webhookAgeMaxMs, webhookTimeoutMs } from '@svc/domain';
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

/**
 * The time in which the result of a claimed attempt must be recorded. After this time without a
 * result, the delivery is due again.
 */
export const attemptClaimMs = 2 * webhookTimeoutMs;

/**
 * The assignments of an `UPDATE deliveries d` that make a delivery due in a new round. The numbers
 * of its attempts and its 72 hours begin again.
 */
export const beginRound = `round = d.round + 1, attempt_count = 0, round_started_at = svc_now(),
  next_attempt_at = svc_now(), due_at = svc_now(), finished_at = NULL`;

/**
 * `pending`: must be sent to the URL of the settings. `queued`: must be sent to the URL of an
 * endpoint. `waiting`: the tenant polls for the delivery (CONTRACT 12).
 */
export type StoredDeliveryStatus = DeliveryStatus | 'queued' | 'waiting';

export function deliveryStatusOf(stored: StoredDeliveryStatus): DeliveryStatus {
  return stored === 'queued' || stored === 'waiting' ? 'pending' : stored;
}

/**
 * Reads a page of the tenants that have `pending` deliveries. Returns those tenants of the page
 * that have a due delivery. `nextAfterTenantId` is null on the last page.
 */
export async function findDueEndpoints(
  store: Store,
  { afterTenantId, limit }: { afterTenantId: string | null; limit: number },
): Promise<{ tenantIds: string[]; nextAfterTenantId: string | null }> {
  const rows = await store.query<{ tenant_id: string; due: boolean }>(dueEndpointsSql, [
    afterTenantId,
    limit,
  ]);
  return {
    tenantIds: rows.filter(({ due }) => due).map((row) => row.tenant_id),
    nextAfterTenantId: rows.length < limit ? null : (rows.at(-1)?.tenant_id ?? null),
  };
}

const dueEndpointsSql = `
  WITH RECURSIVE endpoint AS (
    (SELECT tenant_id, 1 AS position FROM deliveries
     WHERE status = 'pending' AND tenant_id > COALESCE($1::uuid, '00000000-0000-0000-0000-000000000000')
     ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT next.tenant_id, e.position + 1 FROM endpoint e CROSS JOIN LATERAL (
      SELECT d.tenant_id FROM deliveries d WHERE d.status = 'pending' AND d.tenant_id > e.tenant_id
      ORDER BY d.tenant_id LIMIT 1
    ) next
    WHERE e.position < $2
  )
  SELECT e.tenant_id, EXISTS (
    SELECT FROM deliveries d
    WHERE d.tenant_id = e.tenant_id AND d.status = 'pending' AND d.due_at <= svc_now()
      AND d.next_attempt_at <= svc_now()
  ) AS due
  FROM endpoint e ORDER BY e.position`;

/**
 * Reads a page of the endpoints that have `queued` deliveries. Returns those endpoints of the page
 * that have a due delivery. `nextAfterTargetId` is null on the last page.
 */
export async function findDueTargets(
  store: Store,
  { afterTargetId, limit }: { afterTargetId: string | null; limit: number },
): Promise<{
  targets: { tenantId: string; targetId: string }[];
  nextAfterTargetId: string | null;
}> {
  const rows = await store.query<{ tenantId: string; targetId: string; due: boolean }>(
    dueTargetsSql,
    [afterTargetId, limit],
  );
  return {
    targets: rows.filter(({ due }) => due),
    nextAfterTargetId: rows.length < limit ? null : (rows.at(-1)?.targetId ?? null),
  };
}

const dueTargetsSql = `
  WITH RECURSIVE target AS (
    (SELECT target_id, tenant_id, 1 AS position FROM deliveries
     WHERE status = 'queued' AND target_id > COALESCE($1::uuid, '00000000-0000-0000-0000-000000000000')
     ORDER BY target_id LIMIT 1)
    UNION ALL
    SELECT next.target_id, next.tenant_id, t.position + 1 FROM target t CROSS JOIN LATERAL (
      SELECT d.target_id, d.tenant_id FROM deliveries d WHERE d.status = 'queued' AND d.target_id > t.target_id
      ORDER BY d.target_id LIMIT 1
    ) next
    WHERE t.position < $2
  )
  SELECT t.target_id AS "targetId", t.tenant_id AS "tenantId", EXISTS (
    SELECT FROM deliveries d
    WHERE d.target_id = t.target_id AND d.status = 'queued' AND d.due_at <= svc_now()
      AND d.next_attempt_at <= svc_now()
  ) AS due
  FROM target t ORDER BY t.position`;

/**
 * A page of deliveries that are due and whose round began at least 72 hours ago (CONTRACT 6), the
 * oldest round first.
 */
export async function findAgedRounds(
  store: Store,
  page: PageOptions,
): Promise<CandidatePage<ReconcileCandidate>> {
  const rows = await selectAged<ReconcileCandidate & { at: string }>(store.query, {
    ...pageValues(page),
    age_ms: BigInt(webhookAgeMaxMs),
  });
  return pageOf(rows, page.limit);
}

const selectAged = statement(
  { ...pageParameters, age_ms: 'bigint' },
  candidatesSql('webhook', {
    rows: `
    SELECT * FROM (${(['pending', 'queued'] as const)
      .map(
        (status) => `(
      SELECT id, round_started_at AS at FROM deliveries
      WHERE status = '${status}' AND round_started_at <= svc_now() - $age_ms * interval '1 millisecond'
        AND next_attempt_at <= svc_now()
        AND (round_started_at, id) > ($after_at, $after_id)
      ORDER BY round_started_at, id LIMIT $limit)`,
      )
      .join(' UNION ALL ')}) aged
    ORDER BY at, id LIMIT $limit`,
  }),
);

/**
 * Marks deliveries of `deliveryIds` as `exhausted` if they are due and their round began at least
 * 72 hours ago. Skips locked ones. Returns how many were marked.
 */
export async function exhaustAgedRounds(
  store: Store,
  deliveryIds: readonly string[],
): Promise<number> {
  const ended = await store.query(
    `WITH aged AS (
       SELECT id FROM deliveries
       WHERE id = ANY($1::uuid[]) AND status = ANY($2::text[]) AND next_attempt_at <= svc_now()
         AND round_started_at <= svc_now() - $3 * interval '1 millisecond'
       FOR UPDATE SKIP LOCKED
     )
     UPDATE deliveries d SET status = 'exhausted', next_attempt_at = NULL, finished_at = svc_now()
     WHERE d.id = ANY(ARRAY(SELECT id FROM aged)) RETURNING 1`,
    [deliveryIds, ['pending', 'queued'], webhookAgeMaxMs],
  );
  return ended.length;
}

/**
 * Marks the `pending` deliveries of a tenant as `dropped`. A `pending` delivery goes to the URL of
 * the tenant's settings.
 */
export async function dropPendingDeliveries(query: Query, tenantId: string): Promise<void> {
  // This statement locks deliveries in the order of their ids, and so does the statement of
  // `recordAttempt`. Therefore the two statements do not deadlock with each other.
  await query(
    `WITH pending AS MATERIALIZED (
       SELECT id FROM deliveries WHERE tenant_id = $1::uuid AND status = 'pending'
       ORDER BY id FOR UPDATE
     )
     UPDATE deliveries d SET status = 'dropped', next_attempt_at = NULL, finished_at = svc_now()
     WHERE d.id = ANY(ARRAY(SELECT id FROM pending))`,
    [tenantId],
  );
}

/** Marks the `queued` and `waiting` deliveries of an endpoint as `dropped`. */
export async function dropQueuedDeliveries(query: Query, targetId: string): Promise<void> {
  await query(
    `WITH pending AS MATERIALIZED (
       SELECT id FROM deliveries WHERE target_id = $1::uuid AND (status = 'queued' OR status = 'waiting')
       ORDER BY id FOR UPDATE
     )
     UPDATE deliveries d SET status = 'dropped', next_attempt_at = NULL, finished_at = svc_now()
     WHERE d.id = ANY(ARRAY(SELECT id FROM pending))`,
    [targetId],
  );
}

/** One statement drops at most this many deliveries, so that it ends before its time limit. */
const droppedMax = 20_000;

const inactive = {
  settings: `tenant_id = $1::uuid AND tenant_id = $2::uuid AND status = 'pending'
    AND NOT EXISTS (SELECT FROM tenants WHERE id = $1::uuid AND webhook_url IS NOT NULL AND webhook_disabled_at IS NULL)`,
  endpoint: `target_id = $1::uuid AND (status = 'queued' OR status = 'waiting')
    AND EXISTS (SELECT FROM webhook_endpoints WHERE id = $1::uuid AND tenant_id = $2::uuid AND disabled_at IS NOT NULL)`,
};

/**
 * Drops the deliveries to a URL that is cleared or disabled, in a transaction for each
 * `droppedMax` of them. If it is interrupted, claims drop the rest.
 */
export async function dropInactiveDeliveries(
  store: Store,
  { tenantId, targetId }: { readonly tenantId: string; readonly targetId: string | null },
): Promise<void> {
  const condition = targetId === null ? inactive.settings : inactive.endpoint;
  let count = droppedMax;
  while (count === droppedMax) {
    const [page] = await store.query<{ count: number }>(
      `WITH found AS MATERIALIZED (SELECT id FROM deliveries WHERE ${condition} LIMIT ${droppedMax}),
       locked AS MATERIALIZED (
         SELECT id FROM deliveries WHERE id = ANY(ARRAY(SELECT id FROM found))
           AND status = ANY($3)
         ORDER BY id FOR UPDATE
       ), dropped AS (
         UPDATE deliveries d SET status = 'dropped', next_attempt_at = NULL, finished_at = svc_now()
         WHERE d.id = ANY(ARRAY(SELECT id FROM locked))
       )
       SELECT count(*)::int AS count FROM found`,
      // With literal statuses in `locked`, a plan could read a partial index that also has the
      // deliveries of other tenants.
      [targetId ?? tenantId, tenantId, ['pending', 'queued', 'waiting']],
    );
    count = page?.count ?? 0;
  }
}
