import { eventBody, toWireId, webhookTestIntervalMs } from '@svc/domain';
import { appendAudit, type Author } from '../audit-log/audit.ts';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { attemptClaimMs, beginRound } from './deliveries.ts';
import { deliveryIdsOf, insertEvents } from './outbox.ts';
import { untilWebhooksAllowedMs } from './webhook-caps.ts';

export type RedeliveryOutcome =
  | { kind: 'queued' }
  | { kind: 'not_found' }
  | { kind: 'url_missing' }
  | { kind: 'in_progress' }
  | { kind: 'over_cap'; retryInMs: number };

interface RedeliveryRow {
  status: string;
  notified: boolean;
  polled: boolean;
  in_flight: boolean;
}

/**
 * Makes a delivery due at once, or lets the tenant poll for it again (CONTRACT 5 and 12). Without
 * `announceDeliveries` afterwards, a due delivery is sent later.
 */
export async function redeliver(
  store: Store,
  { tenantId, deliveryId }: { tenantId: string; deliveryId: string },
  operator: Author | null = null,
): Promise<RedeliveryOutcome> {
  return store.transaction(async (query): Promise<RedeliveryOutcome> => {
    // The endpoint is locked before the delivery. A deletion of the endpoint locks them in the same
    // order, so the two transactions cannot deadlock.
    await query(
      `SELECT 1 FROM webhook_endpoints w
       WHERE w.id = (SELECT target_id FROM deliveries WHERE id = $1::uuid AND tenant_id = $2::uuid) FOR UPDATE`,
      [deliveryId, tenantId],
    );
    // The delivery is locked before its attempts are read, because a claim locks it too. If a claim
    // came first, its attempt is visible below.
    const locked = await query(
      'SELECT 1 FROM deliveries WHERE id = $1::uuid AND tenant_id = $2::uuid FOR UPDATE',
      [deliveryId, tenantId],
    );
    if (locked.length === 0) return { kind: 'not_found' };
    const row = await readLocked(query, deliveryId);
    if (row?.notified !== true) return { kind: 'url_missing' };
    if (row.in_flight) return { kind: 'in_progress' };
    const retryInMs = row.polled ? 0 : await untilWebhooksAllowedMs(query, tenantId);
    if (retryInMs > 0) return { kind: 'over_cap', retryInMs };
    await (row.polled ? waitAgain(query, deliveryId) : queueAgain(query, deliveryId));
    // A redelivery by the tenant is not in the audit log.
    if (operator !== null) {
      await appendAudit(query, operator, {
        action: 'delivery.redeliver',
        subject: { kind: 'delivery', id: toWireId('dlv', deliveryId) },
        before: { status: row.status },
        after: { status: 'pending' },
      });
    }
    return { kind: 'queued' };
  });
}

/**
 * Begins a new round even if attempts are left in the present one. Only the deliverer knows how many
 * attempts its schedule has now, so the old round may already be used up.
 */
async function queueAgain(query: Query, deliveryId: string): Promise<void> {
  await query(
    `UPDATE deliveries d SET ${beginRound},
       status = CASE WHEN target_id IS NULL THEN 'pending' ELSE 'queued' END
     WHERE id = $1::uuid`,
    [deliveryId],
  );
}

async function waitAgain(query: Query, deliveryId: string): Promise<void> {
  await query(
    `WITH endpoint AS (
       UPDATE webhook_endpoints SET last_position = last_position + 1
       WHERE id = (SELECT target_id FROM deliveries WHERE id = $1::uuid) RETURNING last_position
     )
     UPDATE deliveries SET status = 'waiting', position = (SELECT last_position FROM endpoint),
       finished_at = NULL, round_started_at = svc_now()
     WHERE id = $1::uuid`,
    [deliveryId],
  );
}

/**
 * SQL that is true if an attempt of the delivery `d` may be in flight. Such an attempt is claimed,
 * its result is not recorded, and its claim has not expired.
 */
export const attemptInFlight = `EXISTS (
  SELECT FROM delivery_attempts a
  WHERE a.delivery_id = d.id AND a.round = d.round AND a.number = d.attempt_count
    AND a.recorded_at IS NULL AND a.at + ${attemptClaimMs} * interval '1 millisecond' > svc_now()
)`;

async function readLocked(query: Query, deliveryId: string): Promise<RedeliveryRow | undefined> {
  const [row] = await query<RedeliveryRow>(
    `SELECT d.status, COALESCE(w.kind = 'poll', false) AS polled, CASE
         WHEN d.target_id IS NULL THEN t.webhook_url IS NOT NULL AND t.webhook_disabled_at IS NULL
         ELSE w.id IS NOT NULL AND w.disabled_at IS NULL AND w.retired_at IS NULL END AS notified,
       ${attemptInFlight} AS in_flight
     FROM deliveries d JOIN tenants t ON t.id = d.tenant_id LEFT JOIN webhook_endpoints w ON w.id = d.target_id
     WHERE d.id = $1::uuid`,
    [deliveryId],
  );
  return row;
}

export type WebhookTestOutcome =
  | { kind: 'queued'; deliveryId: string }
  | { kind: 'url_missing' }
  /** A test was queued less than a minute ago, or the tenant has no attempts left in this hour. */
  | { kind: 'too_soon'; retryInMs: number };

/**
 * Writes a `webhook.test` event for the URL of the settings, at most one per minute (CONTRACT 5).
 * Afterwards the caller should call `announceDeliveries`.
 */
export async function queueWebhookTest(
  store: Store,
  { tenantId, requestId }: { tenantId: string; requestId: string },
): Promise<WebhookTestOutcome> {
  return store.transaction(async (query): Promise<WebhookTestOutcome> => {
    const [row] = await query<{ notified: boolean; retry_in_ms: number; now: Date }>(
      `SELECT webhook_url IS NOT NULL AND webhook_disabled_at IS NULL AS notified, svc_now() AS now,
         LEAST(COALESCE(extract(epoch FROM webhook_tested_at - svc_now()) * 1000 + $2, 0), $2)::float8
           AS retry_in_ms
       FROM tenants WHERE id = $1::uuid FOR UPDATE`,
      [tenantId, webhookTestIntervalMs],
    );
    if (row?.notified !== true) return { kind: 'url_missing' };
    const retryInMs = Math.max(row.retry_in_ms, await untilWebhooksAllowedMs(query, tenantId));
    if (retryInMs > 0) return { kind: 'too_soon', retryInMs };
    await query('UPDATE tenants SET webhook_tested_at = svc_now() WHERE id = $1::uuid', [tenantId]);
    const type = 'webhook.test';
    const events = await insertEvents(store, query, [
      {
        tenantId,
        type,
        submissionId: null,
        requestId,
        notified: true,
        endpoints: null,
        body: (id) => eventBody({ id: toWireId('evt', id), type, at: row.now, data: {} }),
      },
    ]);
    const [deliveryId] = deliveryIdsOf(events);
    if (deliveryId === undefined) throw new Error('the test event has no delivery');
    return { kind: 'queued', deliveryId };
  });
}
