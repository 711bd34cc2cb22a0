import type { EventType } from '@svc/domain';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { eventPlace } from '../sealing/sealed.ts';
import { deliveriesTo, type Destinations, type NewDelivery } from './destinations.ts';

/** An event and its destinations. If there are none, the event is written but never sent. */
export interface NewEvent extends Destinations {
  tenantId: string;
  type: EventType;
  submissionId: string | null;
  requestId: string | null;
  /** Returns the exact text to send. `eventId` is the event's id, a UUID. */
  body: (eventId: string) => string;
}

export interface SealedEvent {
  readonly id: string;
  readonly event: NewEvent;
  readonly bodySealed: Uint8Array;
  readonly deliveries: readonly NewDelivery[];
}

export function sealEvents(store: Store, events: readonly NewEvent[]): SealedEvent[] {
  return events.map((event) => {
    const id = store.newId();
    return {
      id,
      event,
      bodySealed: store.sealer.seal(eventPlace({ id, ...event }), event.body(id)),
      deliveries: deliveriesTo(event, event.type, store.newId),
    };
  });
}

/**
 * The ids of the deliveries that need a wake-up job after the commit. `waiting` deliveries are left
 * out, because the tenant polls for them.
 */
export function deliveryIdsOf(events: readonly SealedEvent[]): string[] {
  return events.flatMap(({ deliveries }) =>
    deliveries.flatMap(({ id, status }) => (status === 'waiting' ? [] : [id])),
  );
}

/**
 * The deliveries of `events`, as one array per column. `delivery_event` has the position of each
 * delivery's event in `events`, counted from 1.
 */
export function deliveryColumns(events: readonly SealedEvent[]) {
  // An insert of a `waiting` delivery locks its endpoint (`targetId`). To prevent deadlocks, each
  // transaction must insert its deliveries in the order of `targetId`.
  const rows = events
    .flatMap(({ deliveries }, index) => deliveries.map((one) => ({ ...one, event: index + 1 })))
    .toSorted((a, b) => byTarget(a.targetId ?? '', b.targetId ?? ''));
  return {
    delivery_id: rows.map(({ id }) => id),
    delivery_event: rows.map(({ event }) => event),
    delivery_status: rows.map(({ status }) => status),
    delivery_endpoint_id: rows.map(({ endpointId }) => endpointId),
    delivery_target_id: rows.map(({ targetId }) => targetId),
  };
}

function byTarget(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * Writes events and their deliveries in the caller's transaction. If `deliveryIdsOf` finds ids in
 * the result, call `announceDeliveries` (`@svc/queue`) after the commit.
 */
export async function insertEvents(
  store: Store,
  query: Query,
  events: readonly NewEvent[],
): Promise<SealedEvent[]> {
  if (events.length === 0) return [];
  const sealed = sealEvents(store, events);
  const rows = sealed.map(({ id, event, bodySealed }) => ({
    id,
    tenant_id: event.tenantId,
    type: event.type,
    submission_id: event.submissionId,
    request_id: event.requestId,
    body: Buffer.from(bodySealed).toString('base64'),
  }));
  const deliveries = deliveryColumns(sealed);
  await query(
    `WITH input AS (
       SELECT * FROM jsonb_to_recordset($1::jsonb) AS (id uuid, tenant_id uuid, type text,
         submission_id uuid, request_id text, body text)
     ), event AS (
       INSERT INTO events (id, tenant_id, type, submission_id, request_id, body_sealed, created_at)
       SELECT id, tenant_id, type, submission_id, request_id, decode(body, 'base64'), svc_now() FROM input
     )
     INSERT INTO deliveries (id, tenant_id, event_id, type, status, next_attempt_at, created_at,
       round_started_at, endpoint_id, target_id)
     SELECT r.id, i.tenant_id, i.id, i.type, r.status, CASE WHEN r.status <> 'waiting' THEN svc_now() END,
       svc_now(), svc_now(), r.endpoint_id, r.target_id
     FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::uuid[])
       WITH ORDINALITY AS r (id, event_id, status, endpoint_id, target_id, position)
     JOIN input i ON i.id = r.event_id ORDER BY r.position`,
    [
      JSON.stringify(rows),
      deliveries.delivery_id,
      deliveries.delivery_event.map((position) => sealed[position - 1]?.id ?? null),
      deliveries.delivery_status,
      deliveries.delivery_endpoint_id,
      deliveries.delivery_target_id,
    ],
  );
  return sealed;
}
