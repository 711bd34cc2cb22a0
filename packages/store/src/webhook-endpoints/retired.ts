import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import type { Destinations, EventTarget } from '../deliveries/destinations.ts';
import { endpointSecretPlace, tenantSecretPlace, unsealText } from '../sealing/sealed.ts';

/**
 * If a change replaces or clears an active URL, the former URL becomes a retired endpoint. This
 * endpoint gets only the event about the change (decision 35).
 */

interface FormerUrl {
  readonly tenantId: string;
  /** The endpoint that had this URL. Null if it was the URL of the tenant's settings. */
  readonly endpointId: string | null;
  readonly url: string;
  /** The valid secrets, newest first. */
  readonly secrets: readonly { secret: string; expiresAt: Date | null }[];
}

async function retireUrl(
  store: Store,
  query: Query,
  { tenantId, endpointId, url, secrets }: FormerUrl,
): Promise<EventTarget | null> {
  const [newest, older] = secrets;
  if (newest === undefined) return null;
  const id = store.newId();
  const sealed = (version: number, secret: string) =>
    store.sealer.seal(endpointSecretPlace({ id, tenantId, version }), secret);
  await query(
    `INSERT INTO webhook_endpoints (id, tenant_id, kind, url, secret_sealed, secret_version,
       previous_secret_sealed, previous_secret_expires_at, retired_at, created_at)
     VALUES ($1::uuid, $2::uuid, 'push', $3, $4, 2, $5::bytea,
       CASE WHEN $5::bytea IS NOT NULL THEN COALESCE($6::timestamptz, svc_now() + interval '7 days') END,
       svc_now(), svc_now())`,
    [
      id,
      tenantId,
      url,
      sealed(2, newest.secret),
      older === undefined ? null : sealed(1, older.secret),
      older?.expiresAt ?? null,
    ],
  );
  return { targetId: id, endpointId, kind: 'push', events: null };
}

/**
 * Call this before the URL of the settings is changed. Returns `destinations` with a retired
 * endpoint in place of this URL, or unchanged if the URL is not active.
 */
export async function retireSettingsUrl(
  store: Store,
  query: Query,
  tenantId: string,
  destinations: Destinations,
): Promise<Destinations> {
  const [row] = await query<{ url: string | null }>(
    'SELECT webhook_url AS url FROM tenants WHERE id = $1::uuid',
    [tenantId],
  );
  if (!destinations.notified || typeof row?.url !== 'string') return destinations;
  const secrets = await query<{ id: string; sealed: Uint8Array; expiresAt: Date | null }>(
    `SELECT id, sealed, expires_at AS "expiresAt" FROM tenant_secrets
     WHERE tenant_id = $1::uuid AND kind = 'webhook' AND (expires_at IS NULL OR expires_at > svc_now())
     ORDER BY created_at DESC, id DESC LIMIT 2`,
    [tenantId],
  );
  const former = await retireUrl(store, query, {
    tenantId,
    endpointId: null,
    url: row.url,
    secrets: secrets.map(({ id, sealed, expiresAt }) => ({
      secret: unsealText(
        store.sealer,
        tenantSecretPlace({ id, tenantId, kind: 'webhook' }),
        sealed,
      ),
      expiresAt,
    })),
  });
  const endpoints = [...(destinations.endpoints ?? []), ...(former === null ? [] : [former])];
  return { notified: false, endpoints };
}

/**
 * Call this before the URL is changed. Returns `destinations` with a retired endpoint in place of
 * this endpoint, or unchanged if this endpoint is disabled or has no URL.
 */
export async function retireEndpointUrl(
  store: Store,
  query: Query,
  { tenantId, endpointId }: { tenantId: string; endpointId: string },
  destinations: Destinations,
): Promise<Destinations> {
  const isOwn = (target: EventTarget) => target.targetId === endpointId;
  const own = destinations.endpoints?.find(isOwn);
  const [row] = await query<{
    url: string | null;
    version: number;
    sealed: Uint8Array;
    previous: Uint8Array | null;
    expiresAt: Date | null;
  }>(
    `SELECT url, secret_version AS version, secret_sealed AS sealed,
       CASE WHEN previous_secret_expires_at > svc_now() THEN previous_secret_sealed END AS previous,
       previous_secret_expires_at AS "expiresAt"
     FROM webhook_endpoints WHERE id = $1::uuid`,
    [endpointId],
  );
  if (own === undefined || typeof row?.url !== 'string') return destinations;
  const opened = (version: number, sealed: Uint8Array, expiresAt: Date | null) => ({
    secret: unsealText(
      store.sealer,
      endpointSecretPlace({ id: endpointId, tenantId, version }),
      sealed,
    ),
    expiresAt,
  });
  const former = await retireUrl(store, query, {
    tenantId,
    endpointId,
    url: row.url,
    secrets: [
      opened(row.version, row.sealed, null),
      ...(row.previous === null ? [] : [opened(row.version - 1, row.previous, row.expiresAt)]),
    ],
  });
  const others = (destinations.endpoints ?? []).filter((target) => !isOwn(target));
  return {
    notified: destinations.notified,
    endpoints: [...others, ...(former === null ? [] : [{ ...former, events: own.events }])],
  };
}

/**
 * Deletes endpoints that were retired over an hour ago and whose deliveries have ended, up to
 * `limit`. Returns how many were deleted.
 */
export async function deleteRetiredEndpoints(store: Store, limit: number): Promise<number> {
  const deleted = await store.query(
    `DELETE FROM webhook_endpoints WHERE id = ANY(ARRAY(
       SELECT w.id FROM webhook_endpoints w
       WHERE w.retired_at < svc_now() - interval '1 hour'
         AND NOT EXISTS (SELECT FROM deliveries d WHERE d.target_id = w.id AND d.status = 'queued')
         AND NOT EXISTS (SELECT FROM deliveries d WHERE d.target_id = w.id AND d.status = 'waiting')
       ORDER BY w.id LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING 1`,
    [limit],
  );
  return deleted.length;
}
