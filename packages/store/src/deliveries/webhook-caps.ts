import type { Query } from '../connection/query.ts';

/**
 * The cap is the most webhook attempts of a tenant per clock hour (CONTRACT 5). `claimDue` counts
 * the attempts.
 */

/** Stands for no cap: a number of attempts that no tenant reaches. */
const noCap = 2_147_483_647;

/**
 * Sets the cap of a tenant. Null removes the cap. Attempts that were counted in this hour stay
 * counted. For the first cap of a tenant, the count begins at 0.
 */
export async function writeWebhookCap(
  query: Query,
  tenantId: string,
  attemptsPerHour: number | null,
): Promise<void> {
  // A removal writes `noCap`, because the services' database role may not delete rows of this
  // table.
  await query(
    `INSERT INTO webhook_caps (tenant_id, attempts_per_hour, hour)
     VALUES ($1::uuid, $2, date_trunc('hour', svc_now(), 'UTC'))
     ON CONFLICT (tenant_id) DO UPDATE SET attempts_per_hour = EXCLUDED.attempts_per_hour`,
    [tenantId, attemptsPerHour ?? noCap],
  );
}

export function webhookCapOf(attemptsPerHour: number | null | undefined): number | null {
  return attemptsPerHour === noCap ? null : (attemptsPerHour ?? null);
}

export async function insertWebhookCap(
  query: Query,
  tenantId: string,
  attemptsPerHour: number | undefined,
): Promise<void> {
  if (attemptsPerHour === undefined) return;
  await query(
    `INSERT INTO webhook_caps (tenant_id, attempts_per_hour, hour)
     VALUES ($1::uuid, $2, date_trunc('hour', svc_now(), 'UTC'))`,
    [tenantId, attemptsPerHour],
  );
}

/** Milliseconds until the tenant's next attempt is allowed; 0 if one is allowed immediately. */
export async function untilWebhooksAllowedMs(query: Query, tenantId: string): Promise<number> {
  const [spent] = await query<{ left_ms: number }>(
    `SELECT (extract(epoch FROM hour + interval '1 hour' - svc_now()) * 1000)::float8 AS left_ms
     FROM webhook_caps
     WHERE tenant_id = $1::uuid AND attempts >= attempts_per_hour
       AND hour = date_trunc('hour', svc_now(), 'UTC')`,
    [tenantId],
  );
  return spent?.left_ms ?? 0;
}
