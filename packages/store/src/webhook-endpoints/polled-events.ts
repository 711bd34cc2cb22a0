import { polledEventAgeMaxMs, polledEventsMax } from '@svc/domain';
import type { Store } from '../connection/store.ts';
import { eventPlace, unsealText } from '../sealing/sealed.ts';

/**
 * The events of an endpoint without a URL (CONTRACT 12). Reading changes nothing in the database.
 */

export interface PolledEvent {
  deliveryId: string;
  /** The exact text of the event, as it would be posted. */
  body: string;
}

export type PolledEvents =
  | {
      kind: 'events';
      /** The oldest first. */
      events: PolledEvent[];
      /** The value of `after` that reads the next page. */
      position: bigint;
    }
  /** The endpoint is unknown or deleted, belongs to another tenant, or has a URL. */
  | { kind: 'not_found' };

interface PolledRow {
  last_position: bigint;
  id: string | null;
  position: bigint;
  event_id: string;
  type: string;
  body_sealed: Uint8Array;
}

/**
 * Reads up to `limit` events whose position is greater than `after`. Only the newest 1,000 events
 * are readable, and only for a day.
 */
export async function readPolledEvents(
  store: Store,
  {
    tenantId,
    endpointId,
    after,
    limit,
  }: { tenantId: string; endpointId: string; after: bigint; limit: number },
): Promise<PolledEvents> {
  const rows = await store.query<PolledRow>(
    `SELECT w.last_position, d.id, d.position, d.event_id, d.type, v.body_sealed
     FROM webhook_endpoints w
     LEFT JOIN LATERAL (
       SELECT id, position, event_id, type FROM deliveries
       WHERE target_id = w.id AND status = 'waiting'
         AND position > GREATEST($3::bigint, w.last_position - ${polledEventsMax})
         AND round_started_at > svc_now() - ${polledEventAgeMaxMs} * interval '1 millisecond'
       ORDER BY position LIMIT $4
     ) d ON true
     LEFT JOIN LATERAL (SELECT body_sealed FROM events WHERE id = d.event_id LIMIT 1) v ON true
     WHERE w.id = $1::uuid AND w.tenant_id = $2::uuid AND w.kind = 'poll' AND w.retired_at IS NULL
     ORDER BY d.position`,
    [endpointId, tenantId, after, limit],
  );
  const [first] = rows;
  if (first === undefined) return { kind: 'not_found' };
  const events = rows.flatMap(({ id, event_id, type, body_sealed }) =>
    id === null
      ? []
      : [
          {
            deliveryId: id,
            body: unsealText(
              store.sealer,
              eventPlace({ id: event_id, tenantId, type }),
              body_sealed,
            ),
          },
        ],
  );
  // If all events after `after` are too old to be read, the page is empty. `last_position` then
  // makes the next read skip these events.
  const read = events.length === 0 ? first.last_position : (rows.at(-1)?.position ?? after);
  return { kind: 'events', events, position: read > after ? read : after };
}

/**
 * Returns the ids of those `awaited` endpoints that are deleted, or whose newest event has a
 * position greater than `after`. One statement checks all endpoints.
 */
export async function findPolledNews(
  store: Store,
  awaited: readonly { endpointId: string; after: bigint }[],
): Promise<Set<string>> {
  const rows = await store.query<{ id: string }>(
    `SELECT a.id FROM unnest($1::uuid[], $2::bigint[]) AS a (id, after)
     LEFT JOIN LATERAL (SELECT * FROM webhook_endpoints WHERE id = a.id LIMIT 1) w ON true
     WHERE w.id IS NULL OR w.retired_at IS NOT NULL OR w.last_position > a.after`,
    [awaited.map(({ endpointId }) => endpointId), awaited.map(({ after }) => after)],
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Drops waiting events that can no longer be read (CONTRACT 12), because they are a day old or
 * 1,000 newer ones exist. Drops up to `limit` for each endpoint, and returns the sum.
 */
export async function dropUnreadableEvents(store: Store, limit: number): Promise<number> {
  const dropped = await store.query(
    `WITH old AS MATERIALIZED (
       SELECT d.id FROM webhook_endpoints w CROSS JOIN LATERAL (
         SELECT id FROM deliveries
         WHERE target_id = w.id AND status = 'waiting' AND (position <= w.last_position - ${polledEventsMax}
           OR round_started_at <= svc_now() - ${polledEventAgeMaxMs} * interval '1 millisecond')
         ORDER BY position LIMIT $1 FOR UPDATE SKIP LOCKED
       ) d WHERE w.kind = 'poll'
     )
     UPDATE deliveries d SET status = 'dropped', finished_at = svc_now()
     WHERE d.id = ANY(ARRAY(SELECT id FROM old)) RETURNING 1`,
    [limit],
  );
  return dropped.length;
}
