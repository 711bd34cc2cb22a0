import type { EventType } from '@svc/domain';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { eventPlace } from '../sealing/sealed.ts';

export interface NewEvent {
  tenantId: string;
  type: EventType;
  submissionId: string | null;
  requestId: string | null;
  /** True if the tenant has an active URL. Without one the event is written but never sent. */
  notified: boolean;
  /** The exact bytes to be sent, given the event's id (a UUID). */
  body: (eventId: string) => string;
}

/** An event as it is written: its sealed body and the id of its delivery. */
export interface SealedEvent {
  readonly id: string;
  readonly event: NewEvent;
  readonly bodySealed: Uint8Array;
  /** Null if the event is not sent. */
  readonly deliveryId: string | null;
}

export function sealEvents(store: Store, events: readonly NewEvent[]): SealedEvent[] {
  return events.map((event) => {
    const id = store.newId();
    return {
      id,
      event,
      bodySealed: store.sealer.seal(eventPlace({ id, ...event }), event.body(id)),
      deliveryId: event.notified ? store.newId() : null,
    };
  });
}

/** The deliveries to announce after the commit. */
export function deliveryIdsOf(events: readonly SealedEvent[]): string[] {
  return events.flatMap(({ deliveryId }) => (deliveryId === null ? [] : [deliveryId]));
}

/**
 * Writes events to the outbox in the caller's transaction, with a delivery for each tenant that has
 * a URL. Returns the id of each event's delivery, in the order of the events; null if the event is
 * not sent. The caller announces the deliveries after the commit.
 */
export async function insertEvents(
  store: Store,
  query: Query,
  events: readonly NewEvent[],
): Promise<(string | null)[]> {
  if (events.length === 0) return [];
  const rows = sealEvents(store, events).map(({ id, event, bodySealed, deliveryId }) => ({
    id,
    tenant_id: event.tenantId,
    type: event.type,
    submission_id: event.submissionId,
    request_id: event.requestId,
    body: Buffer.from(bodySealed).toString('base64'),
    delivery_id: deliveryId,
  }));
  await query(
    `WITH input AS (
       SELECT * FROM jsonb_to_recordset($1::jsonb) AS (id uuid, tenant_id uuid, type text,
         submission_id uuid, request_id text, body text, delivery_id uuid)
     ), event AS (
       INSERT INTO events (id, tenant_id, type, submission_id, request_id, body_sealed, created_at)
       SELECT id, tenant_id, type, submission_id, request_id, decode(body, 'base64'), svc_now() FROM input
     )
     INSERT INTO deliveries (id, tenant_id, event_id, type, status, next_attempt_at, created_at, round_started_at)
     SELECT delivery_id, tenant_id, id, type, 'pending', svc_now(), svc_now(), svc_now() FROM input
     WHERE delivery_id IS NOT NULL`,
    [JSON.stringify(rows)],
  );
  return rows.map((row) => row.delivery_id);
}
