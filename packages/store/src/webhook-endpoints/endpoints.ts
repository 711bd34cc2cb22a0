import type { EndpointKind, EventType } from '@svc/domain';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';

/** An endpoint as its tenant sees it (CONTRACT 12). */
export interface EndpointRecord {
  id: string;
  kind: EndpointKind;
  /** Null for an endpoint of kind `poll`, whose events the tenant fetches. */
  url: string | null;
  /** Null if the endpoint wants events of all types. */
  events: EventType[] | null;
  description: string | null;
  disabled: { at: Date; reason: string } | null;
  createdAt: Date;
}

interface EndpointRow extends Omit<EndpointRecord, 'disabled'> {
  disabledAt: Date | null;
  disabledReason: string | null;
}

const endpointsSql = `
  SELECT id, kind, url, events, description, disabled_at AS "disabledAt",
    disabled_reason AS "disabledReason", created_at AS "createdAt"
  FROM webhook_endpoints
  WHERE tenant_id = $1::uuid AND ($2::uuid IS NULL OR id = $2::uuid) AND retired_at IS NULL
  ORDER BY id`;

/**
 * The endpoints of a tenant, oldest first. Leaves out deleted endpoints, and the retired endpoints
 * that were created for former URLs (retired.ts).
 */
export async function listEndpoints(store: Store, tenantId: string): Promise<EndpointRecord[]> {
  return (await store.query<EndpointRow>(endpointsSql, [tenantId, null])).map(recordOf);
}

/** Null if the endpoint is unknown, deleted or belongs to another tenant. */
export function findEndpoint(
  store: Store,
  at: { tenantId: string; endpointId: string },
): Promise<EndpointRecord | null> {
  return readEndpoint(store.query, at);
}

export async function readEndpoint(
  query: Query,
  { tenantId, endpointId }: { tenantId: string; endpointId: string },
): Promise<EndpointRecord | null> {
  const [row] = await query<EndpointRow>(endpointsSql, [tenantId, endpointId]);
  return row === undefined ? null : recordOf(row);
}

function recordOf({ disabledAt: at, disabledReason: reason, ...row }: EndpointRow): EndpointRecord {
  return { ...row, disabled: at === null ? null : { at, reason: reason ?? '' } };
}
