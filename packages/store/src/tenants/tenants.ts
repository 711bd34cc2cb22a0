import { dropPendingDeliveries } from '../deliveries/deliveries.ts';
import { Prisma } from '../generated/client.ts';
import type { Queryable, Store } from '../connection/store.ts';
import { tenantSecretPlace } from '../sealing/sealed.ts';
import { insertWebhookCap } from '../deliveries/webhook-caps.ts';

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

/**
 * Creates a tenant with an empty account and its two sealed secrets, in the caller's transaction.
 */
export async function insertTenant(store: Store, tx: Queryable, tenant: NewTenant): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO tenants (id, name, allowed_job_types, webhook_url, created_at)
    VALUES (${tenant.id}::uuid, ${tenant.name}, ${tenant.allowedJobTypes}::text[], ${tenant.webhookUrl}, svc_now())`;
  await tx.$executeRaw`
    INSERT INTO credit_accounts (tenant_id, in_flight_max)
    VALUES (${tenant.id}::uuid, ${tenant.inFlightMax ?? null})`;
  await insertSecret(store, tx, tenant.id, 'hmac', tenant.hmacSecret);
  await insertSecret(store, tx, tenant.id, 'webhook', tenant.webhookSecret);
  await insertWebhookCap(tx, tenant.id, tenant.webhookAttemptsPerHour);
}

export async function insertSecret(
  store: Store,
  tx: Queryable,
  tenantId: string,
  kind: TenantSecretKind,
  secret: string,
): Promise<void> {
  const id = store.newId();
  const sealed = store.sealer.seal(tenantSecretPlace({ id, tenantId, kind }), secret);
  await tx.$executeRaw`
    INSERT INTO tenant_secrets (id, tenant_id, kind, sealed, created_at)
    VALUES (${id}::uuid, ${tenantId}::uuid, ${kind}, ${sealed}, svc_now())`;
}

interface TenantRow {
  id: string;
  name: string;
  allowed_job_types: string[];
  webhook_url: string | null;
  webhook_disabled_at: Date | null;
  webhook_disabled_reason: string | null;
  low_balance_threshold_micros: bigint;
  rate_limit_per_second: number;
  rate_limit_burst: number;
  rebate_millionths: number;
  disabled_at: Date | null;
  created_at: Date;
}

const tenantColumns = Prisma.sql`t.id, t.name, t.allowed_job_types, t.webhook_url,
  t.webhook_disabled_at, t.webhook_disabled_reason, a.low_balance_threshold_micros,
  t.rate_limit_per_second, t.rate_limit_burst, t.rebate_millionths, t.disabled_at, t.created_at`;

/** Null for an unknown tenant. */
export function findTenant(store: Store, tenantId: string): Promise<TenantRecord | null> {
  return readTenant(store.db, tenantId);
}

/** Same as `findTenant`, in the caller's transaction. */
export async function readTenant(tx: Queryable, tenantId: string): Promise<TenantRecord | null> {
  const [row] = await tx.$queryRaw<TenantRow[]>`
    SELECT ${tenantColumns} FROM tenants t JOIN credit_accounts a ON a.tenant_id = t.id
    WHERE t.id = ${tenantId}::uuid`;
  return row === undefined ? null : tenantOfRow(row);
}

/** A page of tenants, newest first, older than `before` if it is given. */
export async function listTenants(
  store: Store,
  page: { before: string | null; limit: number },
): Promise<TenantRecord[]> {
  const rows = await store.db.$queryRaw<TenantRow[]>`
    SELECT ${tenantColumns} FROM tenants t JOIN credit_accounts a ON a.tenant_id = t.id
    WHERE t.id < COALESCE(${page.before}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    ORDER BY t.id DESC LIMIT ${page.limit}`;
  return rows.map(tenantOfRow);
}

function tenantOfRow(row: TenantRow): TenantRecord {
  return {
    id: row.id,
    name: row.name,
    allowedJobTypes: row.allowed_job_types,
    webhookUrl: row.webhook_url,
    webhookDisabled:
      row.webhook_disabled_at === null
        ? null
        : { at: row.webhook_disabled_at, reason: row.webhook_disabled_reason ?? '' },
    lowBalanceThresholdMicros: row.low_balance_threshold_micros,
    rateLimitPerSecond: row.rate_limit_per_second,
    rateLimitBurst: row.rate_limit_burst,
    rebateMillionths: row.rebate_millionths,
    disabledAt: row.disabled_at,
    createdAt: row.created_at,
  };
}

/**
 * Sets the URL of a tenant's events and enables it again. `null` clears it. Pending deliveries are
 * dropped if there was no active URL before or there is none afterwards (CONTRACT 5). A
 * transaction that wrote an event while a 410 disabled the URL may have committed its delivery
 * after that. Returns false for an unknown tenant.
 */
export async function setWebhookUrl(
  store: Store,
  tenantId: string,
  webhookUrl: string | null,
): Promise<boolean> {
  return store.db.$transaction((tx) => writeWebhookUrl(tx, tenantId, webhookUrl));
}

/** Same as `setWebhookUrl`, in the caller's transaction. */
export async function writeWebhookUrl(
  tx: Queryable,
  tenantId: string,
  webhookUrl: string | null,
): Promise<boolean> {
  const [before] = await tx.$queryRaw<{ notified: boolean }[]>`
    SELECT webhook_url IS NOT NULL AND webhook_disabled_at IS NULL AS notified
    FROM tenants WHERE id = ${tenantId}::uuid FOR UPDATE`;
  if (before === undefined) return false;
  await tx.$executeRaw`
    UPDATE tenants SET webhook_url = ${webhookUrl}, webhook_disabled_at = NULL, webhook_disabled_reason = NULL
    WHERE id = ${tenantId}::uuid`;
  if (webhookUrl === null || !before.notified) await dropPendingDeliveries(tx, tenantId);
  return true;
}
