import { isDeepStrictEqual } from 'node:util';
import {
  assertInvariant,
  creditsToNumber,
  eventBody,
  lowBalanceEventData,
  thresholdOvertakesBalance,
  toWireId,
} from '@svc/domain';
import { type Author, withoutQuery } from '../audit-log/audit.ts';
import { recordTenantChange } from '../audit-log/tenant-changes.ts';
import { isTransient } from '../connection/errors.ts';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { dropInactiveDeliveries } from '../deliveries/deliveries.ts';
import { deliveryIdsOf, insertEvents } from '../deliveries/outbox.ts';
import { webhookCapOf, writeWebhookCap } from '../deliveries/webhook-caps.ts';
import { retireSettingsUrl } from '../webhook-endpoints/retired.ts';
import { insertSettingsChanged, readDestinations } from '../webhook-endpoints/settings-changed.ts';
import { findTenant, type TenantRecord, writeWebhookUrl } from './tenants.ts';

/**
 * Fields that are left out keep their value. A tenant itself may change only the first two fields.
 */
export interface SettingsChange {
  /** Null removes the URL. */
  webhookUrl?: string | null;
  lowBalanceThresholdMicros?: bigint;
  allowedJobTypes?: string[];
  rateLimitPerSecond?: number;
  rateLimitBurst?: number;
  /** The share of each charge that is accrued as rebate, in millionths. */
  rebateMillionths?: number;
  /** The most submissions in flight. Null: no limit. */
  inFlightMax?: number | null;
  /** The most webhook attempts per clock hour. Null: no limit. */
  webhookAttemptsPerHour?: number | null;
}

export interface ChangedSettings {
  tenant: TenantRecord;
  /**
   * The due deliveries of the events about the change. If there are any, the caller should call
   * `announceDeliveries` with the tenant's id. Without this call they are sent later.
   */
  deliveryIds: string[];
}

const transientAttemptsMax = 3;

/**
 * Changes the settings and writes the events about the change (CONTRACT 4, 5 and 12). Setting the
 * URL also enables it. Returns null for an unknown tenant.
 */
export async function changeSettings(
  store: Store,
  tenantId: string,
  change: SettingsChange,
  by: Author,
): Promise<ChangedSettings | null> {
  // A backlog is dropped outside of the transaction, which has a time limit.
  const ofSettings = { tenantId, targetId: null };
  if (typeof change.webhookUrl === 'string') await dropInactiveDeliveries(store, ofSettings);
  const deliveryIds = await commitChange(store, tenantId, change, by);
  // If this fails, claims drop the deliveries. The change is already committed.
  if (change.webhookUrl === null) await dropInactiveDeliveries(store, ofSettings).catch(() => {});
  const tenant = await findTenant(store, tenantId);
  return tenant === null ? null : { tenant, deliveryIds };
}

async function commitChange(
  store: Store,
  tenantId: string,
  change: SettingsChange,
  by: Author,
): Promise<string[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await store.transaction((query) =>
        changeInTransaction(store, query, tenantId, change, by),
      );
    } catch (error) {
      if (attempt >= transientAttemptsMax || !isTransient(error)) throw error;
    }
  }
}

async function changeInTransaction(
  store: Store,
  query: Query,
  tenantId: string,
  change: SettingsChange,
  by: Author,
): Promise<string[]> {
  const account = await lockThreshold(query, tenantId);
  if (account === null) return [];
  const before = await readSettings(query, tenantId, account);
  const notify = await preparedNotice(store, query, tenantId, { before, change }, by);
  await writeSettings(query, tenantId, change);
  await auditSettings(query, tenantId, { before, change }, by);
  const deliveryIds = await notify();
  const { lowBalanceThresholdMicros: thresholdMicros } = change;
  if (thresholdMicros === undefined) return deliveryIds;
  if (!thresholdOvertakesBalance(account.thresholdMicros, thresholdMicros, account.balanceMicros))
    return deliveryIds;
  const low = await writeLowBalanceEvent(store, query, tenantId, by.requestId, {
    ...account,
    thresholdMicros,
  });
  return [...deliveryIds, ...low];
}

/**
 * Call this before the settings are written, because `settings.changed` goes to the former URL
 * (CONTRACT 12). Afterwards call the returned function, which writes the event.
 */
async function preparedNotice(
  store: Store,
  query: Query,
  tenantId: string,
  { before, change }: { before: Settings; change: SettingsChange },
  by: Author,
): Promise<() => Promise<string[]>> {
  const after = { ...before, ...change };
  const [url] = await query<{ isDisabled: boolean }>(
    `SELECT webhook_disabled_at IS NOT NULL AS "isDisabled" FROM tenants
     WHERE id = $1::uuid FOR UPDATE`,
    [tenantId],
  );
  const enables = url?.isDisabled === true && typeof change.webhookUrl === 'string';
  // No setting gets another value, so there is no event.
  if (!enables && isDeepStrictEqual(before, after)) return () => Promise.resolve([]);
  const inForce = await readDestinations(query, tenantId);
  const destinations =
    after.webhookUrl === before.webhookUrl
      ? inForce
      : await retireSettingsUrl(store, query, tenantId, inForce);
  const what = 'settings.updated';
  return () => insertSettingsChanged(store, query, { tenantId, what, by, destinations });
}

interface LockedThreshold {
  readonly balanceMicros: bigint;
  readonly heldMicros: bigint;
  readonly thresholdMicros: bigint;
  readonly inFlightMax: number | null;
  readonly now: Date;
}

/**
 * Locks the tenant's account. Call this before the tenant's row is locked, because each transaction
 * that locks both rows locks the account first. Returns null for an unknown tenant.
 */
async function lockThreshold(query: Query, tenantId: string): Promise<LockedThreshold | null> {
  const [row] = await query<LockedThreshold>(
    `SELECT balance_micros AS "balanceMicros", held_micros AS "heldMicros",
       low_balance_threshold_micros AS "thresholdMicros", in_flight_max AS "inFlightMax", svc_now() AS now
     FROM credit_accounts WHERE tenant_id = $1::uuid FOR UPDATE`,
    [tenantId],
  );
  return row ?? null;
}

type Settings = Required<SettingsChange>;

async function readSettings(
  query: Query,
  tenantId: string,
  { thresholdMicros: lowBalanceThresholdMicros, inFlightMax }: LockedThreshold,
): Promise<Settings> {
  const [row] = await query<Omit<Settings, 'lowBalanceThresholdMicros' | 'inFlightMax'>>(
    `SELECT webhook_url AS "webhookUrl", allowed_job_types AS "allowedJobTypes",
       rate_limit_per_second AS "rateLimitPerSecond", rate_limit_burst AS "rateLimitBurst",
       rebate_millionths AS "rebateMillionths",
       (SELECT attempts_per_hour FROM webhook_caps WHERE tenant_id = $1::uuid) AS "webhookAttemptsPerHour"
     FROM tenants WHERE id = $1::uuid`,
    [tenantId],
  );
  assertInvariant(row !== undefined, 'every account has a tenant');
  const webhookAttemptsPerHour = webhookCapOf(row.webhookAttemptsPerHour);
  return { ...row, webhookAttemptsPerHour, lowBalanceThresholdMicros, inFlightMax };
}

async function writeSettings(
  query: Query,
  tenantId: string,
  change: SettingsChange,
): Promise<void> {
  const { webhookUrl, lowBalanceThresholdMicros, inFlightMax, webhookAttemptsPerHour } = change;
  if (inFlightMax !== undefined) {
    await query('UPDATE credit_accounts SET in_flight_max = $2 WHERE tenant_id = $1::uuid', [
      tenantId,
      inFlightMax,
    ]);
  }
  if (webhookAttemptsPerHour !== undefined) {
    await writeWebhookCap(query, tenantId, webhookAttemptsPerHour);
  }
  if (webhookUrl !== undefined) await writeWebhookUrl(query, tenantId, webhookUrl);
  if (lowBalanceThresholdMicros !== undefined) {
    await query(
      'UPDATE credit_accounts SET low_balance_threshold_micros = $2 WHERE tenant_id = $1::uuid',
      [tenantId, lowBalanceThresholdMicros],
    );
  }
  await query(
    `UPDATE tenants SET
       allowed_job_types = COALESCE($2::text[], allowed_job_types),
       rate_limit_per_second = COALESCE($3::int, rate_limit_per_second),
       rate_limit_burst = COALESCE($4::int, rate_limit_burst),
       rebate_millionths = COALESCE($5::int, rebate_millionths)
     WHERE id = $1::uuid`,
    [
      tenantId,
      change.allowedJobTypes ?? null,
      change.rateLimitPerSecond ?? null,
      change.rateLimitBurst ?? null,
      change.rebateMillionths ?? null,
    ],
  );
}

/** Records all fields of `change`, including those whose value stays the same. */
async function auditSettings(
  query: Query,
  tenantId: string,
  { before, change }: { before: Settings; change: SettingsChange },
  by: Author,
): Promise<void> {
  await recordTenantChange(query, by, {
    tenantId,
    action: 'tenant.update',
    before: shown(before, change),
    after: shown({ ...before, ...change }, change),
  });
}

function shown(values: Settings, change: SettingsChange): object {
  const all = {
    webhookUrl: values.webhookUrl === null ? null : withoutQuery(values.webhookUrl),
    lowBalanceThresholdMicros: creditsToNumber(values.lowBalanceThresholdMicros),
    allowedJobTypes: values.allowedJobTypes,
    rateLimitPerSecond: values.rateLimitPerSecond,
    rateLimitBurst: values.rateLimitBurst,
    rebateMillionths: values.rebateMillionths,
    inFlightMax: values.inFlightMax,
    webhookAttemptsPerHour: values.webhookAttemptsPerHour,
  };
  const entries = Object.entries(all)
    .filter(([name]) => name in change)
    .map(([name, value]) => [name.replace('Micros', ''), value]);
  return Object.fromEntries(entries);
}

async function writeLowBalanceEvent(
  store: Store,
  query: Query,
  tenantId: string,
  requestId: string | null,
  { now, ...figures }: LockedThreshold,
): Promise<string[]> {
  const { notified, endpoints } = await readDestinations(query, tenantId);
  const type = 'credits.low_balance';
  const data = lowBalanceEventData(figures);
  const events = await insertEvents(store, query, [
    {
      tenantId,
      type,
      submissionId: null,
      requestId,
      notified,
      endpoints,
      body: (id) => eventBody({ id: toWireId('evt', id), type, at: now, data }),
    },
  ]);
  return deliveryIdsOf(events);
}
