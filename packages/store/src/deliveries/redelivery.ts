import { eventBody, toWireId, webhookTestIntervalMs } from '@svc/domain';
import { appendAudit, type Author } from '../audit-log/audit.ts';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { attemptClaimMs } from './deliveries.ts';
import { insertEvents } from './outbox.ts';
import { untilWebhooksAllowedMs } from './webhook-caps.ts';

/** Deliveries that a tenant requests itself: a redelivery or a test event. */

export type RedeliveryOutcome =
  | { kind: 'queued' }
  | { kind: 'not_found' }
  | { kind: 'url_missing' }
  /** An attempt is in flight: claimed, not recorded, and its claim has not expired. */
  | { kind: 'in_progress' }
  /** The tenant's attempts of this hour are used up. */
  | { kind: 'over_cap'; retryInMs: number };

interface RedeliveryRow {
  status: string;
  notified: boolean;
  in_flight: boolean;
}

/**
 * Makes a delivery due immediately (CONTRACT 5). A pending delivery stays in its round;
 * any other begins a new round of attempts under the same id. The caller announces it afterwards.
 * With `operator`, the audit log records the change.
 */
export async function redeliver(
  store: Store,
  { tenantId, deliveryId }: { tenantId: string; deliveryId: string },
  operator: Author | null = null,
): Promise<RedeliveryOutcome> {
  return store.transaction(async (query): Promise<RedeliveryOutcome> => {
    // Locked before its attempts are read. A claim updates this row, so it is either seen or waits.
    const locked = await query(
      'SELECT 1 FROM deliveries WHERE id = $1::uuid AND tenant_id = $2::uuid FOR UPDATE',
      [deliveryId, tenantId],
    );
    if (locked.length === 0) return { kind: 'not_found' };
    const row = await readLocked(query, deliveryId);
    if (row?.notified !== true) return { kind: 'url_missing' };
    if (row.in_flight) return { kind: 'in_progress' };
    const retryInMs = await untilWebhooksAllowedMs(query, tenantId);
    if (retryInMs > 0) return { kind: 'over_cap', retryInMs };
    await query(
      `UPDATE deliveries SET next_attempt_at = svc_now(), due_at = svc_now(), status = 'pending', finished_at = NULL,
         round = CASE WHEN status = 'pending' THEN round ELSE round + 1 END,
         round_started_at = CASE WHEN status = 'pending' THEN round_started_at ELSE svc_now() END,
         attempt_count = CASE WHEN status = 'pending' THEN attempt_count ELSE 0 END
       WHERE id = $1::uuid`,
      [deliveryId],
    );
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
 * SQL that is true if an attempt of the delivery `d` may be in flight: claimed, not recorded and not
 * expired.
 */
export const attemptInFlight = `EXISTS (
  SELECT FROM delivery_attempts a
  WHERE a.delivery_id = d.id AND a.round = d.round AND a.number = d.attempt_count
    AND a.recorded_at IS NULL AND a.at + ${attemptClaimMs} * interval '1 millisecond' > svc_now()
)`;

async function readLocked(query: Query, deliveryId: string): Promise<RedeliveryRow | undefined> {
  const [row] = await query<RedeliveryRow>(
    `SELECT d.status, t.webhook_url IS NOT NULL AND t.webhook_disabled_at IS NULL AS notified,
       ${attemptInFlight} AS in_flight
     FROM deliveries d JOIN tenants t ON t.id = d.tenant_id WHERE d.id = $1::uuid`,
    [deliveryId],
  );
  return row;
}

export type WebhookTestOutcome =
  | { kind: 'queued'; deliveryId: string }
  | { kind: 'url_missing' }
  /** One test per minute, and within the tenant's attempts of this hour. */
  | { kind: 'too_soon'; retryInMs: number };

/**
 * Writes a `webhook.test` event with its delivery, at most one per minute for a tenant by the
 * database's clock (CONTRACT 5). The caller announces the delivery afterwards.
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
    const [deliveryId] = await insertEvents(store, query, [
      {
        tenantId,
        type,
        submissionId: null,
        requestId,
        notified: true,
        body: (id) => eventBody({ id: toWireId('evt', id), type, at: row.now, data: {} }),
      },
    ]);
    if (deliveryId === undefined || deliveryId === null)
      throw new Error('the test event has no delivery');
    return { kind: 'queued', deliveryId };
  });
}
