import type { AccountFigures, FailureCode, SubmissionState, Tier, UsageUnit } from '@svc/domain';
import type { Query } from '../connection/query.ts';
import { statement } from '../connection/statement.ts';
import { destinationColumns, type Destinations } from '../deliveries/destinations.ts';

export interface LockedAccount extends AccountFigures {
  tenantId: string;
  lowBalanceThresholdMicros: bigint;
}

export interface LockedSubmission {
  id: string;
  tenantId: string;
  state: SubmissionState;
  jobType: string;
  tier: Tier;
  quoteMaxMicros: bigint;
  surgeMicros: bigint;
  rateCardVersion: number;
  nodeId: string | null;
  /**
   * Milliseconds since the state became `running`, never negative. Null if the submission has not
   * run.
   */
  runningMs: bigint | null;
  dispatchOverdueMs: bigint;
  /** Milliseconds since the submission's outcome was stored. Null without an outcome. */
  outcomeAgeMs: bigint | null;
  /** Exact decimal texts. Null means not reported. */
  usage: Record<UsageUnit, string | null>;
  outcomeKind: 'completed' | 'failed' | null;
  failureCode: FailureCode | null;
  /**
   * If the stored outcome is a failure that the node reported: the result of `statedRetriable` of
   * `@svc/domain` for this failure. Otherwise null.
   */
  statedRetriable: boolean | null;
  outcomeSealed: Uint8Array | null;
  chargedMicros: bigint | null;
  usageCapped: boolean;
  requestId: string;
  /** This and the next two fields are the tenant's settings, read while its account is locked. */
  rebateMillionths: number;
  notified: boolean;
  endpoints: Destinations['endpoints'];
  now: Date;
}

/**
 * Reads no settings from `tenants`. The statement takes its snapshot before it waits for a lock, so
 * it would not see a change that is committed during the wait.
 */
const lockAccountRows = statement(
  { submission_id: 'uuid[]', only_tenant_id: 'uuid' },
  `
  SELECT a.tenant_id, a.balance_micros, a.held_micros, a.rebate_accrued_micros,
    a.low_balance_threshold_micros
  FROM credit_accounts a
  WHERE a.tenant_id IN (SELECT tenant_id FROM submissions WHERE id = ANY($submission_id))
    AND ($only_tenant_id IS NULL OR a.tenant_id = $only_tenant_id)
  ORDER BY a.tenant_id FOR UPDATE OF a`,
);

interface AccountRow {
  tenant_id: string;
  balance_micros: bigint;
  held_micros: bigint;
  rebate_accrued_micros: bigint;
  low_balance_threshold_micros: bigint;
}

export async function lockAccounts(
  query: Query,
  submissionIds: readonly string[],
  onlyTenantId: string | null,
): Promise<Map<string, LockedAccount>> {
  const rows = await lockAccountRows<AccountRow>(query, {
    submission_id: submissionIds,
    only_tenant_id: onlyTenantId,
  });
  return new Map(
    rows.map((row) => [
      row.tenant_id,
      {
        tenantId: row.tenant_id,
        balanceMicros: row.balance_micros,
        heldMicros: row.held_micros,
        rebateAccruedMicros: row.rebate_accrued_micros,
        lowBalanceThresholdMicros: row.low_balance_threshold_micros,
      },
    ]),
  );
}

const lockSubmissionRows = statement(
  { id: 'uuid[]', only_tenant_id: 'uuid' },
  `
  SELECT s.id, s.tenant_id, s.state, s.job_type, s.tier, s.quote_max_micros, s.surge_micros,
    s.rate_card_version, s.node_id,
    round(extract(epoch FROM GREATEST(svc_now(), s.started_at) - s.started_at) * 1000)::bigint AS running_ms,
    round(extract(epoch FROM svc_now() - s.dispatch_deadline_at) * 1000)::bigint AS dispatch_overdue_ms,
    s.usage_node_seconds::text, s.usage_cpu_seconds::text, s.usage_memory_gb_seconds::text,
    s.usage_bandwidth_mb::text, s.usage_actions::text, s.outcome_kind, s.failure_code,
    round(extract(epoch FROM svc_now() - s.outcome_at) * 1000)::bigint AS outcome_age_ms,
    s.stated_retriable, s.outcome_sealed, s.charged_micros, s.usage_capped, s.request_id, t.rebate_millionths,
    ${destinationColumns('t')}, svc_now() AS now
  FROM submissions s CROSS JOIN LATERAL (SELECT * FROM tenants WHERE id = s.tenant_id LIMIT 1) t
  WHERE s.id = ANY($id) AND ($only_tenant_id IS NULL OR s.tenant_id = $only_tenant_id)
  ORDER BY s.id FOR UPDATE OF s`,
);

interface SubmissionRow {
  id: string;
  tenant_id: string;
  state: SubmissionState;
  job_type: string;
  tier: Tier;
  quote_max_micros: bigint;
  surge_micros: bigint;
  rate_card_version: number;
  node_id: string | null;
  running_ms: bigint | null;
  dispatch_overdue_ms: bigint;
  outcome_age_ms: bigint | null;
  usage_node_seconds: string | null;
  usage_cpu_seconds: string | null;
  usage_memory_gb_seconds: string | null;
  usage_bandwidth_mb: string | null;
  usage_actions: string | null;
  outcome_kind: 'completed' | 'failed' | null;
  failure_code: FailureCode | null;
  stated_retriable: boolean | null;
  outcome_sealed: Uint8Array | null;
  charged_micros: bigint | null;
  usage_capped: boolean;
  request_id: string;
  rebate_millionths: number;
  notified: boolean;
  endpoints: Destinations['endpoints'];
  now: Date;
}

/**
 * Locks and reads submissions, with the settings of their tenants. Call it after `lockAccounts`,
 * because a statement that begins before that lock could read old settings.
 */
export async function lockSubmissions(
  query: Query,
  submissionIds: readonly string[],
  onlyTenantId: string | null,
): Promise<LockedSubmission[]> {
  const rows = await lockSubmissionRows<SubmissionRow>(query, {
    id: submissionIds,
    only_tenant_id: onlyTenantId,
  });
  return rows.map((row) => ({
    id: row.id,
    tenantId: row.tenant_id,
    state: row.state,
    jobType: row.job_type,
    tier: row.tier,
    quoteMaxMicros: row.quote_max_micros,
    surgeMicros: row.surge_micros,
    rateCardVersion: row.rate_card_version,
    nodeId: row.node_id,
    runningMs: row.running_ms,
    dispatchOverdueMs: row.dispatch_overdue_ms,
    outcomeAgeMs: row.outcome_age_ms,
    usage: {
      nodeSeconds: row.usage_node_seconds,
      cpuSeconds: row.usage_cpu_seconds,
      memoryGbSeconds: row.usage_memory_gb_seconds,
      bandwidthMb: row.usage_bandwidth_mb,
      actions: row.usage_actions,
    },
    outcomeKind: row.outcome_kind,
    failureCode: row.failure_code,
    statedRetriable: row.stated_retriable,
    outcomeSealed: row.outcome_sealed,
    chargedMicros: row.charged_micros,
    usageCapped: row.usage_capped,
    requestId: row.request_id,
    rebateMillionths: row.rebate_millionths,
    notified: row.notified,
    endpoints: row.endpoints,
    now: row.now,
  }));
}
