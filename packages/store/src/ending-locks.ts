import type { AccountFigures, FailureCode, SubmissionState, Tier } from '@svc/domain';
import type { Queryable } from './store.ts';
import { usageColumns } from './submissions.ts';

export interface LockedAccount extends AccountFigures {
  tenantId: string;
  lowBalanceThresholdMicros: bigint;
  rebateMillionths: number;
  notified: boolean;
}

export interface LockedSubmission {
  id: string;
  tenant_id: string;
  state: SubmissionState;
  job_type: string;
  tier: Tier;
  quote_max_micros: bigint;
  surge_micros: bigint;
  card_version: number;
  card: unknown;
  node_id: string | null;
  running_ms: bigint | null;
  dispatch_overdue_ms: bigint;
  usage: Record<string, string | null>;
  outcome_kind: 'completed' | 'failed' | null;
  failure_code: FailureCode | null;
  outcome_sealed: Uint8Array | null;
  charged_micros: bigint | null;
  request_id: string;
  now: Date;
}

/** The accounts of these submissions, locked in the order of their ids. */
export async function lockAccounts(
  tx: Queryable,
  submissionIds: string[],
  onlyTenantId: string | null,
): Promise<Map<string, LockedAccount>> {
  const rows = await tx.$queryRaw<LockedAccount[]>`
    SELECT a.tenant_id AS "tenantId", a.balance_micros AS "balanceMicros", a.held_micros AS "heldMicros",
      a.rebate_accrued_micros AS "rebateAccruedMicros",
      a.low_balance_threshold_micros AS "lowBalanceThresholdMicros", t.rebate_millionths AS "rebateMillionths",
      t.webhook_url IS NOT NULL AND t.webhook_disabled_at IS NULL AS notified
    FROM credit_accounts a JOIN tenants t ON t.id = a.tenant_id
    WHERE a.tenant_id IN (SELECT tenant_id FROM submissions WHERE id = ANY(${submissionIds}::uuid[]))
      AND (${onlyTenantId}::uuid IS NULL OR a.tenant_id = ${onlyTenantId}::uuid)
    ORDER BY a.tenant_id FOR UPDATE OF a`;
  return new Map(rows.map((row) => [row.tenantId, row]));
}

/** The submissions, locked in the order of their ids, with the rate card that each one pinned. */
export async function lockSubmissions(
  tx: Queryable,
  submissionIds: string[],
  onlyTenantId: string | null,
): Promise<LockedSubmission[]> {
  return tx.$queryRaw<LockedSubmission[]>`
    SELECT s.id, s.tenant_id, s.state, s.job_type, s.tier, s.quote_max_micros, s.surge_micros,
      r.version AS card_version, r.card, s.node_id,
      round(extract(epoch FROM svc_now() - s.started_at) * 1000)::bigint AS running_ms,
      round(extract(epoch FROM svc_now() - s.dispatch_deadline_at) * 1000)::bigint AS dispatch_overdue_ms,
      ${usageColumns} AS usage, s.outcome_kind, s.failure_code, s.outcome_sealed, s.charged_micros,
      s.request_id, svc_now() AS now
    FROM submissions s JOIN rate_cards r ON r.version = s.rate_card_version
    WHERE s.id = ANY(${submissionIds}::uuid[])
      AND (${onlyTenantId}::uuid IS NULL OR s.tenant_id = ${onlyTenantId}::uuid)
    ORDER BY s.id FOR UPDATE OF s`;
}
