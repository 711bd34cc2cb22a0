import { eventBody, lowBalanceEventData, thresholdOvertakesBalance, toWireId } from '@svc/domain';
import { insertEvents } from './outbox.ts';
import { isTransient } from './errors.ts';
import type { Queryable, Store } from './store.ts';
import { findTenant, type TenantRecord, writeWebhookUrl } from './tenants.ts';

/** What of its settings a tenant changes; what is left out stays as it is. */
export interface SettingsChange {
  /** Null clears it. */
  webhookUrl?: string | null;
  lowBalanceThresholdMicros?: bigint;
}

export interface ChangedSettings {
  tenant: TenantRecord;
  /** To be enqueued, now that it is committed. */
  deliveryIds: string[];
}

const transientAttemptsMax = 3;

/**
 * Changes a tenant's settings (CONTRACT.md section 5). Setting a URL enables it again, clearing it
 * drops what is pending; a threshold that overtakes the balance is told once (section 4), at the
 * URL that is then in force. Null for an unknown tenant.
 */
export async function changeSettings(
  store: Store,
  tenantId: string,
  change: SettingsChange,
  requestId: string,
): Promise<ChangedSettings | null> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const deliveryIds = await store.db.$transaction((tx) =>
        changeInTransaction(store, tx, tenantId, change, requestId),
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
  { webhookUrl, lowBalanceThresholdMicros }: SettingsChange,
  requestId: string,
): Promise<string[]> {
  // The account first, as every ending does, so that the balance stands still.
  const [account] = await tx.$queryRaw<LockedSettings[]>`
    SELECT balance_micros AS "balanceMicros", held_micros AS "heldMicros",
      low_balance_threshold_micros AS "thresholdMicros", svc_now() AS now
    FROM credit_accounts WHERE tenant_id = ${tenantId}::uuid FOR UPDATE`;
  if (account === undefined) return [];
  if (webhookUrl !== undefined) await writeWebhookUrl(tx, tenantId, webhookUrl);
  if (lowBalanceThresholdMicros === undefined) return [];
  await tx.$executeRaw`
    UPDATE credit_accounts SET low_balance_threshold_micros = ${lowBalanceThresholdMicros}
    WHERE tenant_id = ${tenantId}::uuid`;
  const { thresholdMicros, balanceMicros } = account;
  if (!thresholdOvertakesBalance(thresholdMicros, lowBalanceThresholdMicros, balanceMicros))
    return [];
  return tellLowBalance(store, tx, tenantId, requestId, {
    ...account,
    thresholdMicros: lowBalanceThresholdMicros,
  });
}

async function tellLowBalance(
  store: Store,
  tx: Queryable,
  tenantId: string,
  requestId: string,
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
