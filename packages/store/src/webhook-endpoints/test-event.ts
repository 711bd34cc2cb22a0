import { eventBody, toWireId, webhookTestIntervalMs } from '@svc/domain';
import type { Store } from '../connection/store.ts';
import { deliveryIdsOf, insertEvents } from '../deliveries/outbox.ts';
import { untilWebhooksAllowedMs } from '../deliveries/webhook-caps.ts';

export type EndpointTestOutcome =
  /**
   * `announced`: true if the caller should call `announceDeliveries` with the tenant's id. False
   * for an endpoint without a URL, whose events the tenant polls.
   */
  | { kind: 'queued'; deliveryId: string; announced: boolean }
  | { kind: 'not_found' }
  /** The endpoint is disabled, because its URL answered 410 Gone. */
  | { kind: 'disabled' }
  /**
   * The endpoint's last test was less than a minute ago. Or the endpoint has a URL, and the tenant
   * has used up its webhook attempts of this hour.
   */
  | { kind: 'too_soon'; retryInMs: number };

/**
 * Writes a `webhook.test` event for one endpoint, even if the endpoint does not want events of this
 * type (CONTRACT 12).
 */
export async function queueEndpointTest(
  store: Store,
  { tenantId, endpointId, requestId }: { tenantId: string; endpointId: string; requestId: string },
): Promise<EndpointTestOutcome> {
  return store.transaction(async (query): Promise<EndpointTestOutcome> => {
    // Lock the tenant before the endpoint, as changes of the endpoint do. Otherwise the insert of
    // the event could lock the tenant after the endpoint, and deadlock with such a change.
    await query('SELECT 1 FROM tenants WHERE id = $1::uuid FOR KEY SHARE', [tenantId]);
    const [row] = await query<{
      kind: 'push' | 'poll';
      disabled: boolean;
      retry_in_ms: number;
      now: Date;
    }>(
      `SELECT kind, disabled_at IS NOT NULL AS disabled, svc_now() AS now,
         LEAST(COALESCE(extract(epoch FROM tested_at - svc_now()) * 1000 + $3, 0), $3)::float8 AS retry_in_ms
       FROM webhook_endpoints
       WHERE id = $1::uuid AND tenant_id = $2::uuid AND retired_at IS NULL FOR UPDATE`,
      [endpointId, tenantId, webhookTestIntervalMs],
    );
    if (row === undefined) return { kind: 'not_found' };
    if (row.disabled) return { kind: 'disabled' };
    const allowedInMs = row.kind === 'poll' ? 0 : await untilWebhooksAllowedMs(query, tenantId);
    const retryInMs = Math.max(row.retry_in_ms, allowedInMs);
    if (retryInMs > 0) return { kind: 'too_soon', retryInMs };
    await query('UPDATE webhook_endpoints SET tested_at = svc_now() WHERE id = $1::uuid', [
      endpointId,
    ]);
    const type = 'webhook.test';
    const events = await insertEvents(store, query, [
      {
        tenantId,
        type,
        submissionId: null,
        requestId,
        notified: false,
        endpoints: [{ targetId: endpointId, endpointId, kind: row.kind, events: null }],
        body: (id) => eventBody({ id: toWireId('evt', id), type, at: row.now, data: {} }),
      },
    ]);
    const [delivery] = events.flatMap(({ deliveries }) => deliveries);
    if (delivery === undefined) throw new Error('the test event has no delivery');
    const announced = deliveryIdsOf(events).length > 0;
    return { kind: 'queued', deliveryId: delivery.id, announced };
  });
}
