import { creditsToNumber, toWireId } from '@svc/domain';
import { findTenant, readBalance, type TenantRecord } from '@svc/store';
import type { Context } from '../context.ts';
import type { Row } from '../output.ts';
import { Refusal } from '../refusal.ts';

/** Throws Refusal if the tenant does not exist. */
export async function showTenant({ configuration, store }: Context, id: string): Promise<Row> {
  const [tenant, balance] = await Promise.all([findTenant(store, id), readBalance(store, id)]);
  if (tenant === null || balance === null) throw unknownTenant();
  return {
    ...tenantRow(tenant),
    environment: configuration.SVC_ENVIRONMENT,
    balance: creditsToNumber(balance.balanceMicros),
    held: creditsToNumber(balance.heldMicros),
    available: creditsToNumber(balance.balanceMicros - balance.heldMicros),
  };
}

export function unknownTenant(): Refusal {
  return new Refusal('There is no such tenant. Run `svc tenant list` to see the ids.');
}

const millionthsPerPercent = 10_000;

export function tenantRow(tenant: TenantRecord): Row {
  return {
    tenantId: toWireId('tnt', tenant.id),
    name: tenant.name,
    allowedJobTypes: tenant.allowedJobTypes,
    webhookUrl: tenant.webhookUrl,
    webhookDisabled: tenant.webhookDisabled,
    lowBalanceThreshold: creditsToNumber(tenant.lowBalanceThresholdMicros),
    rateLimit: { perSecond: tenant.rateLimitPerSecond, burst: tenant.rateLimitBurst },
    inFlightMax: tenant.inFlightMax,
    webhookAttemptsPerHour: tenant.webhookAttemptsPerHour,
    rebatePercent: tenant.rebateMillionths / millionthsPerPercent,
    disabledAt: tenant.disabledAt,
    createdAt: tenant.createdAt,
  };
}
