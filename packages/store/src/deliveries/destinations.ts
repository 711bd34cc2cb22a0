import type { EndpointKind, EventType } from '@svc/domain';

/** An endpoint that may get an event (CONTRACT 12). */
export interface EventTarget {
  /**
   * The id of the endpoint's row in `webhook_endpoints`. The row has the secrets. If the kind is
   * `push`, the row also has the URL.
   */
  readonly targetId: string;
  /**
   * The endpoint id that the tenant sees, usually `targetId`. For a former URL (`retired.ts`): the
   * endpoint that had this URL, or null for the URL of the settings.
   */
  readonly endpointId: string | null;
  readonly kind: EndpointKind;
  /** Null: all event types. */
  readonly events: readonly string[] | null;
}

export interface Destinations {
  /** True if the tenant's settings have an active webhook URL. */
  readonly notified: boolean;
  /** The active endpoints. Null if the tenant has none. */
  readonly endpoints: readonly EventTarget[] | null;
}

/**
 * SQL for the columns of `Destinations`. `tenant` is the alias of the table `tenants` in the
 * statement that contains this SQL.
 */
export function destinationColumns(tenant: string): string {
  return `${tenant}.webhook_url IS NOT NULL AND ${tenant}.webhook_disabled_at IS NULL AS notified,
    CASE WHEN ${tenant}.webhook_endpoint_count > 0 THEN (
      SELECT jsonb_agg(jsonb_build_object('targetId', w.id, 'endpointId', w.id, 'kind', w.kind, 'events', w.events) ORDER BY w.id)
      FROM webhook_endpoints w
      WHERE w.tenant_id = ${tenant}.id AND w.retired_at IS NULL AND w.disabled_at IS NULL
    ) END AS endpoints`;
}

export interface NewDelivery {
  readonly id: string;
  readonly endpointId: string | null;
  /** Null for the URL of the tenant's settings. */
  readonly targetId: string | null;
  readonly status: 'pending' | 'queued' | 'waiting';
}

/**
 * One delivery for the URL of the tenant's settings, if that URL is active, and one for each
 * endpoint that wants the event (CONTRACT 12).
 */
export function deliveriesTo(
  { notified, endpoints }: Destinations,
  type: EventType,
  newId: () => string,
): NewDelivery[] {
  const wanting = (endpoints ?? []).filter(
    ({ events }) => events === null || events.includes(type),
  );
  return [
    ...(notified
      ? [{ id: newId(), endpointId: null, targetId: null, status: 'pending' } as const]
      : []),
    ...wanting.map(({ endpointId, targetId, kind }) => ({
      id: newId(),
      endpointId,
      targetId,
      status: kind === 'push' ? ('queued' as const) : ('waiting' as const),
    })),
  ];
}
