import type { SubmissionState } from '@svc/domain';
import type { Rig } from '../world/rig.ts';

export interface Row {
  readonly id: string;
  readonly tenant_id: string;
  readonly key: string;
  readonly state: SubmissionState;
  readonly node_id: string | null;
  readonly outcome_by: string | null;
  readonly failure_code: string | null;
  readonly is_lease_over: boolean | null;
  readonly max: string;
  readonly charged: string | null;
  readonly movements: Readonly<Record<string, number>> | null;
  readonly events: readonly { id: string; type: string; notified: boolean }[] | null;
}

export interface Account {
  readonly tenant_id: string;
  readonly balance: string;
  readonly held: string;
  readonly in_flight: number;
  /** True if the tenant has a webhook URL that is not disabled. Its events then need deliveries. */
  readonly notified: boolean;
}

/** One statement reads the submissions and the accounts, so all rows come from one snapshot. */
const auditSql = `
  SELECT (SELECT jsonb_agg(r) FROM (
    SELECT s.id, s.tenant_id, s.idempotency_key AS key, s.state, s.node_id, s.outcome_by,
      s.failure_code, s.lease_expires_at <= svc_now() AS is_lease_over,
      s.quote_max_micros::text AS max, s.charged_micros::text AS charged,
      (SELECT jsonb_object_agg(type, amount_micros) FROM ledger_entries l
        WHERE l.submission_id = s.id) AS movements,
      (SELECT jsonb_agg(jsonb_build_object('id', e.id, 'type', e.type,
          'notified', EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = e.id)))
        FROM events e WHERE e.submission_id = s.id) AS events
    FROM submissions s WHERE s.tenant_id = ANY($1::uuid[]) ORDER BY s.id) r) AS rows,
  (SELECT jsonb_agg(o) FROM (
    SELECT a.tenant_id, a.balance_micros::text AS balance, a.held_micros::text AS held, a.in_flight,
      t.webhook_url IS NOT NULL AND t.webhook_disabled_at IS NULL AS notified
    FROM credit_accounts a JOIN tenants t ON t.id = a.tenant_id
    WHERE a.tenant_id = ANY($1::uuid[])) o) AS accounts`;

export async function readRows(
  rig: Rig,
  tenantIds: readonly string[],
): Promise<{ readonly rows: readonly Row[]; readonly accounts: readonly Account[] }> {
  const [read] = await rig.query<{ rows: Row[] | null; accounts: Account[] | null }>(auditSql, [
    tenantIds,
  ]);
  return { rows: read?.rows ?? [], accounts: read?.accounts ?? [] };
}
