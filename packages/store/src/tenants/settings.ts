import {
  creditsToNumber,
  eventBody,
  lowBalanceEventData,
  thresholdOvertakesBalance,
  toWireId,
} from '@svc/domain';
import { type Author, insertAudit, withoutQuery } from '../audit-log/audit.ts';
import { insertEvents } from '../deliveries/outbox.ts';
import { isTransient } from '../connection/errors.ts';
import type { Queryable, Store } from '../connection/store.ts';
import { findTenant, readTenant, type TenantRecord, writeWebhookUrl } from './tenants.ts';

/**
 * A change of a tenant's settings. Fields that are left out keep their value. The tenant itself may
 * change the first two fields; only an operator may change the others.
 */
export interface SettingsChange {
  /** Null clears it. */
  webhookUrl?: string | null;
  lowBalanceThresholdMicros?: bigint;
  allowedJobTypes?: string[];
  rateLimitPerSecond?: number;
  rateLimitBurst?: number;
  /** Share of every charge, in millionths. */
  rebateMillionths?: number;
}

export interface ChangedSettings {
  tenant: TenantRecord;
  /** The deliveries to enqueue. They are committed. */
  deliveryIds: string[];
}

const transientAttemptsMax = 3;

/**
 * Changes a tenant's settings (CONTRACT 5 and 9). Setting a URL enables it again.
 * Clearing it drops the pending deliveries. If a new threshold is above the balance, one
 * low-balance event is sent (section 4), to the URL that is then in force. Null for an unknown
 * tenant.
 */
export async function changeSettings(
  store: Store,
  tenantId: string,
  change: SettingsChange,
  by: Author,
): Promise<ChangedSettings | null> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const deliveryIds = await store.db.$transaction((tx) =>
        changeInTransaction(store, tx, tenantId, change, by),
      );
      const tenant = await findTenant(store, tenantId);
      return tenant === null ? null : { tenant, deliveryIds };
    } catch (error) {
      if (attempt >= transientAttemptsMax || !isTransient(error)) throw error;
    }
  }
}

interface LockedSettings {
  balanceMicros: bigint;
  heldMicros: bigint;
  thresholdMicros: bigint;
  now: Date;
}

async function changeInTransaction(
  store: Store,
  tx: Queryable,
  tenantId: string,
  change: SettingsChange,
  by: Author,
): Promise<string[]> {
  // The account is locked first, as in every ending, so that the balance cannot change.
  const [account] = await tx.$queryRaw<LockedSettings[]>`
    SELECT balance_micros AS "balanceMicros", held_micros AS "heldMicros",
      low_balance_threshold_micros AS "thresholdMicros", svc_now() AS now
    FROM credit_accounts WHERE tenant_id = ${tenantId}::uuid FOR UPDATE`;
  const before = await readTenant(tx, tenantId);
  if (account === undefined || before === null) return [];
  await writeSettings(tx, tenantId, change);
  await auditSettings(tx, before, change, by);
  const { lowBalanceThresholdMicros: thresholdMicros } = change;
  if (thresholdMicros === undefined) return [];
  if (!thresholdOvertakesBalance(account.thresholdMicros, thresholdMicros, account.balanceMicros))
    return [];
  return writeLowBalanceEvent(store, tx, tenantId, by.requestId, { ...account, thresholdMicros });
}

async function writeSettings(
  tx: Queryable,
  tenantId: string,
  change: SettingsChange,
): Promise<void> {
  const { webhookUrl, lowBalanceThresholdMicros } = change;
  if (webhookUrl !== undefined) await writeWebhookUrl(tx, tenantId, webhookUrl);
  if (lowBalanceThresholdMicros !== undefined) {
    await tx.$executeRaw`
      UPDATE credit_accounts SET low_balance_threshold_micros = ${lowBalanceThresholdMicros}
      WHERE tenant_id = ${tenantId}::uuid`;
  }
  await tx.$executeRaw`
    UPDATE tenants SET
      allowed_job_types = COALESCE(${change.allowedJobTypes ?? null}::text[], allowed_job_types),
      rate_limit_per_second = COALESCE(${change.rateLimitPerSecond ?? null}::int, rate_limit_per_second),
      rate_limit_burst = COALESCE(${change.rateLimitBurst ?? null}::int, rate_limit_burst),
      rebate_millionths = COALESCE(${change.rebateMillionths ?? null}::int, rebate_millionths)
    WHERE id = ${tenantId}::uuid`;
}

/** Records the fields of the change before and after it, even if a value stays the same. */
async function auditSettings(
  tx: Queryable,
  before: TenantRecord,
  change: SettingsChange,
  by: Author,
): Promise<void> {
  await insertAudit(tx, by, {
    action: 'tenant.update',
    subject: { kind: 'tenant', id: toWireId('tnt', before.id) },
    before: shown(before, change),
    after: shown({ ...before, ...change }, change),
  });
}

function shown(values: Required<SettingsChange>, change: SettingsChange): object {
  const all = {
    webhookUrl: values.webhookUrl === null ? null : withoutQuery(values.webhookUrl),
    lowBalanceThresholdMicros: creditsToNumber(values.lowBalanceThresholdMicros),
    allowedJobTypes: values.allowedJobTypes,
    rateLimitPerSecond: values.rateLimitPerSecond,
    rateLimitBurst: values.rateLimitBurst,
    rebateMillionths: values.rebateMillionths,
  };
  const entries = Object.entries(all)
    .filter(([name]) => name in change)
    .map(([name, value]) => [name.replace('Micros', ''), value]);
  return Object.fromEntries(entries);
}

async function writeLowBalanceEvent(
  store: Store,
  tx: Queryable,
  tenantId: string,
  requestId: string | null,
  { now, ...figures }: LockedSettings,
): Promise<string[]> {
  const [tenant] = await tx.$queryRaw<{ notified: boolean }[]>`
    SELECT webhook_url IS NOT NULL AND webhook_disabled_at IS NULL AS notified
    FROM tenants WHERE id = ${tenantId}::uuid`;
  const type = 'credits.low_balance';
  const data = lowBalanceEventData(figures);
  const deliveryIds = await insertEvents(store, tx, [
    {
      tenantId,
      type,
      submissionId: null,
      requestId,
      notified: tenant?.notified === true,
      body: (id) => eventBody({ id: toWireId('evt', id), type, at: now, data }),
    },
  ]);
  return deliveryIds.filter((id) => id !== null);
}
