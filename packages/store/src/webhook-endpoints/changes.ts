import {
  assertInvariant,
  type TenantAction,
  tenantChangeNames,
  toWireId,
  webhookEndpointsMax,
} from '@svc/domain';
import { type Author, withoutQuery } from '../audit-log/audit.ts';
import { recordTenantChange } from '../audit-log/tenant-changes.ts';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { dropInactiveDeliveries, dropQueuedDeliveries } from '../deliveries/deliveries.ts';
import type { Destinations } from '../deliveries/destinations.ts';
import { endpointSecretPlace } from '../sealing/sealed.ts';
import { type EndpointRecord, readEndpoint } from './endpoints.ts';
import { retireEndpointUrl } from './retired.ts';
import { insertSettingsChanged, readDestinations } from './settings-changed.ts';

/**
 * Changes of a tenant's endpoints (CONTRACT 12). The event `settings.changed` goes to the
 * destinations from before the change, except a deleted poll endpoint.
 */

export interface NewEndpoint {
  tenantId: string;
  /** Null if the tenant polls for the events. */
  url: string | null;
  events: readonly string[] | null;
  description: string | null;
  secret: string;
}

/**
 * `deliveryIds`: the due deliveries of `settings.changed`. If there are any, the caller should call
 * `announceDeliveries` with the tenant's id. Without this call they are sent later.
 */
export interface ChangedEndpoint {
  endpoint: EndpointRecord;
  deliveryIds: string[];
}

interface EndpointAt {
  tenantId: string;
  endpointId: string;
}

export async function createEndpoint(
  store: Store,
  { tenantId, url, events, description, secret }: NewEndpoint,
  by: Author,
): Promise<({ kind: 'created' } & ChangedEndpoint) | { kind: 'limit' }> {
  return store.transaction(async (query) => {
    const { count } = await lockTenant(query, tenantId);
    if (count >= webhookEndpointsMax) return { kind: 'limit' } as const;
    const destinations = await readDestinations(query, tenantId);
    const id = store.newId();
    await query(
      `INSERT INTO webhook_endpoints (id, tenant_id, kind, url, events, description, secret_sealed, created_at)
       VALUES ($1::uuid, $2::uuid, $3, $4, $5::text[], $6, $7, svc_now())`,
      [
        id,
        tenantId,
        url === null ? 'poll' : 'push',
        url,
        events,
        description,
        store.sealer.seal(endpointSecretPlace({ id, tenantId, version: 1 }), secret),
      ],
    );
    const at = { tenantId, endpointId: id };
    const endpoint = await readKnown(query, at);
    const changed = { before: null, after: shown(endpoint), destinations };
    const deliveryIds = await record(store, query, at, 'endpoint.create', changed, by);
    return { kind: 'created', endpoint, deliveryIds } as const;
  });
}

/**
 * Members that are left out keep their value. If `url` is given, a disabled endpoint is enabled
 * again, even if the URL is the same.
 */
export interface EndpointChange {
  /**
   * Null for an endpoint without a URL. A change from a URL to null, or from null to a URL, is
   * refused with `other_kind`.
   */
  url?: string | null;
  events?: readonly string[] | null;
  description?: string | null;
}

export async function changeEndpoint(
  store: Store,
  at: EndpointAt,
  change: EndpointChange,
  by: Author,
): Promise<
  ({ kind: 'changed' } & ChangedEndpoint) | { kind: 'not_found' } | { kind: 'other_kind' }
> {
  // A backlog is dropped outside of the transaction, which has a time limit.
  if (change.url !== undefined) {
    await dropInactiveDeliveries(store, { tenantId: at.tenantId, targetId: at.endpointId });
  }
  return store.transaction(async (query) => {
    const before = await lockEndpoint(query, at);
    if (before === null) return { kind: 'not_found' } as const;
    const { url = before.url, events = before.events, description = before.description } = change;
    if ((url === null) !== (before.url === null)) return { kind: 'other_kind' } as const;
    const enables = change.url !== undefined && before.disabled !== null;
    const unchanged =
      !enables &&
      JSON.stringify([before.url, before.events, before.description]) ===
        JSON.stringify([url, events, description]);
    if (unchanged) return { kind: 'changed', endpoint: before, deliveryIds: [] } as const;
    const inForce = await readDestinations(query, at.tenantId);
    const destinations =
      url === before.url ? inForce : await retireEndpointUrl(store, query, at, inForce);
    await query(
      `UPDATE webhook_endpoints SET url = $2, events = $3::text[], description = $4,
         disabled_at = CASE WHEN $5::boolean THEN NULL ELSE disabled_at END,
         disabled_reason = CASE WHEN $5::boolean THEN NULL ELSE disabled_reason END
       WHERE id = $1::uuid`,
      [at.endpointId, url, events, description, enables],
    );
    // After a 410 has disabled the endpoint, a concurrent transaction may still write a delivery.
    // This delivery must not be sent when the endpoint is enabled again.
    if (enables) await dropQueuedDeliveries(query, at.endpointId);
    const endpoint = await readKnown(query, at);
    const changed = { before: shown(before), after: shown(endpoint), destinations };
    const deliveryIds = await record(store, query, at, 'endpoint.update', changed, by);
    return { kind: 'changed', endpoint, deliveryIds } as const;
  });
}

/**
 * Retires an endpoint and drops its pending deliveries. If the endpoint is enabled and wants
 * `settings.changed`, its URL still gets the event about the deletion (CONTRACT 12).
 */
export async function deleteEndpoint(
  store: Store,
  at: EndpointAt,
  by: Author,
): Promise<{ kind: 'deleted'; deliveryIds: string[] } | { kind: 'not_found' }> {
  return store.transaction(async (query) => {
    const before = await lockEndpoint(query, at);
    if (before === null) return { kind: 'not_found' } as const;
    const { notified, endpoints } = await readDestinations(query, at.tenantId);
    const isReadable = (target: { targetId: string }) =>
      before.kind === 'push' || target.targetId !== at.endpointId;
    const destinations = { notified, endpoints: endpoints?.filter(isReadable) ?? null };
    await query('UPDATE webhook_endpoints SET retired_at = svc_now() WHERE id = $1::uuid', [
      at.endpointId,
    ]);
    await dropQueuedDeliveries(query, at.endpointId);
    const changed = { before: shown(before), after: null, destinations };
    const deliveryIds = await record(store, query, at, 'endpoint.delete', changed, by);
    return { kind: 'deleted', deliveryIds } as const;
  });
}

/**
 * The new secret is valid immediately. The previous one stays valid for `overlapMs`, and an older
 * one ends at once.
 */
export async function rotateEndpointSecret(
  store: Store,
  rotation: EndpointAt & { secret: string; overlapMs: number },
  by: Author,
): Promise<{ kind: 'rotated'; deliveryIds: string[] } | { kind: 'not_found' }> {
  const { tenantId, endpointId, secret, overlapMs } = rotation;
  const at = { tenantId, endpointId };
  return store.transaction(async (query) => {
    const endpoint = await lockEndpoint(query, at);
    if (endpoint === null) return { kind: 'not_found' } as const;
    const destinations = await readDestinations(query, tenantId);
    const [row] = await query<{ version: number }>(
      'SELECT secret_version + 1 AS version FROM webhook_endpoints WHERE id = $1::uuid',
      [endpointId],
    );
    assertInvariant(row !== undefined, 'a locked endpoint exists');
    const { version } = row;
    await query(
      `UPDATE webhook_endpoints SET secret_version = $2, secret_sealed = $3,
         previous_secret_sealed = CASE WHEN $4::float8 > 0 THEN secret_sealed END,
         previous_secret_expires_at = CASE WHEN $4::float8 > 0 THEN svc_now() + $4 * interval '1 millisecond' END
       WHERE id = $1::uuid`,
      [
        endpointId,
        version,
        store.sealer.seal(endpointSecretPlace({ id: endpointId, tenantId, version }), secret),
        overlapMs,
      ],
    );
    const named = { endpointId: toWireId('whe', endpointId) };
    const changed = { before: named, after: { ...named, overlapMs }, destinations };
    const deliveryIds = await record(store, query, at, 'endpoint.rotate_secret', changed, by);
    return { kind: 'rotated', deliveryIds } as const;
  });
}

/**
 * Locks the account and the tenant, so that no other transaction writes an event of the tenant
 * before the commit. Returns the number of the tenant's endpoints.
 */
async function lockTenant(query: Query, tenantId: string): Promise<{ count: number }> {
  // Each transaction that locks both the account and the tenant locks the account first.
  await query('SELECT 1 FROM credit_accounts WHERE tenant_id = $1::uuid FOR UPDATE', [tenantId]);
  const [row] = await query<{ count: number }>(
    'SELECT webhook_endpoint_count AS count FROM tenants WHERE id = $1::uuid FOR UPDATE',
    [tenantId],
  );
  assertInvariant(row !== undefined, 'the tenant of an endpoint exists');
  return row;
}

async function lockEndpoint(query: Query, at: EndpointAt): Promise<EndpointRecord | null> {
  await lockTenant(query, at.tenantId);
  await query(
    'SELECT 1 FROM webhook_endpoints WHERE id = $1::uuid AND tenant_id = $2::uuid FOR UPDATE',
    [at.endpointId, at.tenantId],
  );
  return readEndpoint(query, at);
}

async function readKnown(query: Query, at: EndpointAt): Promise<EndpointRecord> {
  const endpoint = await readEndpoint(query, at);
  assertInvariant(endpoint !== null, 'an endpoint exists after it was written');
  return endpoint;
}

type EndpointAction = Extract<TenantAction, `endpoint.${string}`>;

interface Recorded {
  readonly before: object | null;
  readonly after: object | null;
  readonly destinations: Destinations;
}

async function record(
  store: Store,
  query: Query,
  { tenantId }: EndpointAt,
  action: EndpointAction,
  { before, after, destinations }: Recorded,
  by: Author,
): Promise<string[]> {
  await recordTenantChange(query, by, { tenantId, action, before, after });
  const what = tenantChangeNames[action];
  return insertSettingsChanged(store, query, { tenantId, what, by, destinations });
}

function shown({ id, kind, url, events, description }: EndpointRecord): object {
  return {
    endpointId: toWireId('whe', id),
    kind,
    url: url === null ? null : withoutQuery(url),
    events,
    description,
  };
}
