import { assertInvariant } from '@svc/domain';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { dropPendingDeliveries } from '../deliveries/deliveries.ts';
import { insertWebhookCap, webhookCapOf } from '../deliveries/webhook-caps.ts';
import type { Prisma } from '../generated/client.ts';
import { tenantSecretPlace } from '../sealing/sealed.ts';
import { sealKeyLimits } from './key-limits.ts';

export type TenantSecretKind = 'hmac' | 'webhook';

export interface TenantRecord {
  id: string;
  name: string;
  allowedJobTypes: string[];
  webhookUrl: string | null;
  webhookDisabled: { at: Date; reason: string } | null;
  lowBalanceThresholdMicros: bigint;
  rateLimitPerSecond: number;
  rateLimitBurst: number;
  rebateMillionths: number;
  /** The most submissions in flight. Null: no limit. */
  inFlightMax: number | null;
  /** The most webhook attempts per clock hour. Null: no limit. */
  webhookAttemptsPerHour: number | null;
  disabledAt: Date | null;
  createdAt: Date;
}

export interface NewTenant {
  id: string;
  name: string;
  allowedJobTypes: string[];
  webhookUrl: string | null;
  hmacSecret: string;
  webhookSecret: string;
  /** The most webhook attempts per clock hour. No limit if left out. */
  webhookAttemptsPerHour?: number;
  /** The most submissions in flight. No limit if left out. */
  inFlightMax?: number;
}

export async function insertTenant(store: Store, query: Query, tenant: NewTenant): Promise<void> {
  const { id, name, allowedJobTypes, webhookUrl, inFlightMax = null } = tenant;
  await query(
    `INSERT INTO tenants (id, name, allowed_job_types, webhook_url, created_at)
     VALUES ($1::uuid, $2, $3::text[], $4, svc_now())`,
    [id, name, allowedJobTypes, webhookUrl],
  );
  await query('INSERT INTO credit_accounts (tenant_id, in_flight_max) VALUES ($1::uuid, $2)', [
    id,
    inFlightMax,
  ]);
  await insertSecret(store, query, id, 'hmac', tenant.hmacSecret);
  await insertSecret(store, query, id, 'webhook', tenant.webhookSecret);
  await insertWebhookCap(query, id, tenant.webhookAttemptsPerHour);
}

/**
 * Begin each change of a tenant's status or secrets with this statement. Otherwise the trigger that
 * raises `epoch` locks the account after the tenant, and can deadlock.
 */
export const lockEpochSql = 'SELECT 1 FROM credit_accounts WHERE tenant_id = $1::uuid FOR UPDATE';

export async function insertSecret(
  store: Store,
  query: Query,
  tenantId: string,
  kind: TenantSecretKind,
  secret: string,
): Promise<void> {
  const id = store.newId();
  const sealed = store.sealer.seal(tenantSecretPlace({ id, tenantId, kind }), secret);
  const limits = { id, tenantId, scopes: null, addresses: null, expiresAt: null };
  const limitsSealed = kind === 'hmac' ? sealKeyLimits(store, { ...limits, kind }) : null;
  await query(
    `INSERT INTO tenant_secrets (id, tenant_id, kind, sealed, created_at, limits_sealed)
     VALUES ($1::uuid, $2::uuid, $3, $4, svc_now(), $5)`,
    [id, tenantId, kind, sealed, limitsSealed],
  );
}

const tenantFields = {
  id: true,
  name: true,
  allowedJobTypes: true,
  webhookUrl: true,
  webhookDisabledAt: true,
  webhookDisabledReason: true,
  rateLimitPerSecond: true,
  rateLimitBurst: true,
  rebateMillionths: true,
  disabledAt: true,
  createdAt: true,
  account: { select: { lowBalanceThresholdMicros: true, inFlightMax: true } },
  webhookCap: { select: { attemptsPerHour: true } },
} satisfies Prisma.TenantSelect;

/** Null for an unknown tenant. */
export async function findTenant({ db }: Store, tenantId: string): Promise<TenantRecord | null> {
  const row = await db.tenant.findUnique({ where: { id: tenantId }, select: tenantFields });
  return row === null ? null : tenantOf(row);
}

/**
 * Returns a page of tenants, newest first. If `before` is the id of a tenant, returns only older
 * tenants.
 */
export async function listTenants(
  { db }: Store,
  { before, limit }: { before: string | null; limit: number },
): Promise<TenantRecord[]> {
  const rows = await db.tenant.findMany({
    where: before === null ? {} : { id: { lt: before } },
    orderBy: { id: 'desc' },
    take: limit,
    select: tenantFields,
  });
  return rows.map(tenantOf);
}

function tenantOf({
  account,
  webhookCap,
  webhookDisabledAt: at,
  webhookDisabledReason: reason,
  ...tenant
}: Prisma.TenantGetPayload<{ select: typeof tenantFields }>): TenantRecord {
  assertInvariant(account !== null, 'every tenant has an account');
  return {
    ...tenant,
    ...account,
    webhookAttemptsPerHour: webhookCapOf(webhookCap?.attemptsPerHour),
    webhookDisabled: at === null ? null : { at, reason: reason ?? '' },
  };
}

/**
 * Sets and enables the URL in a tenant's settings. Null clears the URL: then call
 * `dropInactiveDeliveries` after the commit. Returns false for an unknown tenant.
 */
export async function writeWebhookUrl(
  query: Query,
  tenantId: string,
  webhookUrl: string | null,
): Promise<boolean> {
  const [before] = await query<{ notified: boolean }>(
    `SELECT webhook_url IS NOT NULL AND webhook_disabled_at IS NULL AS notified
     FROM tenants WHERE id = $1::uuid FOR UPDATE`,
    [tenantId],
  );
  if (before === undefined) return false;
  await query(
    `UPDATE tenants
     SET webhook_url = $2, webhook_disabled_at = NULL, webhook_disabled_reason = NULL
     WHERE id = $1::uuid`,
    [tenantId, webhookUrl],
  );
  // After a 410 has disabled the URL, a concurrent transaction may still write a delivery. This
  // delivery must not be sent when the URL is enabled again.
  if (webhookUrl !== null && !before.notified) await dropPendingDeliveries(query, tenantId);
  return true;
}
