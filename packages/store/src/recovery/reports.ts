import { leaseMs, runLimitMs, startDeadlineMs, transitions } from '@svc/domain';
import { sqlState, uniqueViolation } from '../connection/errors.ts';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { lockAccount } from '../ledger/account.ts';
import { payloadPlace } from '../sealing/sealed.ts';
import { openReceipt, type Receipt } from './receipts.ts';
import { recoveryInForce } from './recovery.ts';

export interface JournalReport {
  readonly submissionId: string;
  readonly nodeId: string;
  readonly receipt: string;
  /** True if the node may have begun the submission. */
  readonly isBegun: boolean;
  readonly instanceId: string | undefined;
}

/**
 * The result of applying a node's report about a submission. If it is one of `openFindings`, the
 * database did not have the submission, and the submission could not be inserted.
 */
export type ReportFinding =
  /** The submission was assigned to this node, in the reported state or a later one. */
  | 'known'
  /** The submission was in an earlier state, and got the reported one. */
  | 'advanced'
  /** The submission was missing, and was inserted again with its hold. */
  | 'restored'
  /** The submission has another node, or ended without a node. */
  | 'not_this_nodes'
  /** The available credits do not cover the hold. */
  | 'waits_for_credits'
  | 'unknown_tenant'
  | 'key_taken'
  /** The receipt cannot be opened. */
  | 'unreadable';

/** Applies the report of a node. Returns null and changes nothing if no recovery is in force. */
export async function applyReport(
  store: Store,
  report: JournalReport,
): Promise<ReportFinding | null> {
  const apply = (insertMissing: boolean) =>
    store.transaction(async (query) => {
      const incarnation = await recoveryInForce({ query });
      if (incarnation === null) return null;
      const receipt = openReceipt(store.sealer, report, report.receipt);
      const found = await advance(query, report);
      const finding =
        found ?? (insertMissing ? await insert(store, query, report, receipt) : 'key_taken');
      await query(
        `INSERT INTO recovery_reports (incarnation, submission_id, node_id, tenant_id, finding, reported_at)
         VALUES ($1, $2::uuid, $3::uuid, $4::uuid, $5, svc_now())
         ON CONFLICT (incarnation, submission_id) DO UPDATE SET
           finding = CASE WHEN excluded.finding = 'known' THEN recovery_reports.finding ELSE excluded.finding END,
           reported_at = excluded.reported_at
         WHERE recovery_reports.node_id = excluded.node_id`,
        [incarnation, report.submissionId, report.nodeId, receipt?.tenantId ?? null, finding],
      );
      return finding;
    });
  try {
    return await apply(true);
  } catch (error) {
    if (sqlState(error) !== uniqueViolation) throw error;
    return await apply(false);
  }
}

/** Notes that a node has reported its whole history. Does nothing if no recovery is in force. */
export async function noteReported(store: Store, nodeId: string): Promise<void> {
  await store.query(
    `INSERT INTO recovery_nodes (incarnation, node_id, reported_at)
     SELECT incarnation, $1::uuid, svc_now() FROM recoveries WHERE ended_at IS NULL
     ON CONFLICT DO NOTHING`,
    [nodeId],
  );
}

const runDeadline = `svc_now() + interval '1 millisecond' * CASE tier
  WHEN 'instant' THEN ${runLimitMs.instant} WHEN 'priority' THEN ${runLimitMs.priority}
  ELSE ${runLimitMs.standard} END`;
const { to: running } = transitions.begin;
const { to: dispatched } = transitions.dispatch;

/**
 * Advances a submission to `running` if the node may have begun it, otherwise to `dispatched`. Null
 * if the database does not have the submission.
 */
async function advance(query: Query, report: JournalReport): Promise<ReportFinding | null> {
  const { submissionId, nodeId, isBegun, instanceId } = report;
  const [row] = await query<{ state: string; node_id: string | null }>(
    'SELECT state, node_id FROM submissions WHERE id = $1::uuid FOR UPDATE',
    [submissionId],
  );
  if (row === undefined) return null;
  if (row.node_id !== null && row.node_id !== nodeId) return 'not_this_nodes';
  const isBefore = row.state === 'pending' || (row.state === dispatched && isBegun);
  if (!isBefore) return row.node_id === null ? 'not_this_nodes' : 'known';
  await query(
    `UPDATE submissions SET state = $3, node_id = $2::uuid,
       dispatched_at = COALESCE(dispatched_at, svc_now()),
       start_deadline_at = COALESCE(start_deadline_at, svc_now() + ${startDeadlineMs} * interval '1 millisecond'),
       run_deadline_at = COALESCE(run_deadline_at, ${runDeadline}),
       started_at = CASE WHEN $3 = '${running}' THEN COALESCE(started_at, svc_now()) END,
       lease_expires_at = CASE WHEN $3 = '${running}' THEN svc_now() + ${leaseMs} * interval '1 millisecond' END,
       begun_instance = CASE WHEN $3 = '${running}' THEN $4 END
     WHERE id = $1::uuid`,
    [submissionId, nodeId, isBegun ? running : dispatched, instanceId ?? null],
  );
  return 'advanced';
}

async function insert(
  store: Store,
  query: Query,
  report: JournalReport,
  receipt: Receipt | null,
): Promise<ReportFinding> {
  if (receipt === null) return 'unreadable';
  const account = await lockAccount(query, receipt.tenantId);
  if (account === null) return 'unknown_tenant';
  const max = BigInt(receipt.max);
  if (account.balanceMicros - account.heldMicros < max) return 'waits_for_credits';
  const { submissionId, nodeId, isBegun, instanceId } = report;
  await query(
    `INSERT INTO submissions (id, tenant_id, idempotency_key, request_hash, request_id, job_type, tier,
       state, payload_sealed, quote_estimated_micros, quote_max_micros, surge_micros, rate_card_version,
       available_after_micros, dispatch_deadline_at, created_at, node_id, dispatched_at,
       start_deadline_at, run_deadline_at, started_at, lease_expires_at, begun_instance)
     SELECT $1::uuid, r."tenantId"::uuid, r."idempotencyKey", decode(r."requestHash", 'base64'),
       r."requestId", r."jobType", tier, $3, $6, r.estimated, r.max, r.surge, r."rateCardVersion",
       r."availableAfter", svc_now(), r."createdAt", $2::uuid, svc_now(),
       svc_now() + ${startDeadlineMs} * interval '1 millisecond', ${runDeadline},
       CASE WHEN $3 = '${running}' THEN svc_now() END,
       CASE WHEN $3 = '${running}' THEN svc_now() + ${leaseMs} * interval '1 millisecond' END,
       CASE WHEN $3 = '${running}' THEN $4 END
     FROM jsonb_to_record($5::jsonb) AS r ("tenantId" text, "idempotencyKey" text, "requestHash" text,
       "requestId" text, "jobType" text, tier text, estimated bigint, max bigint, surge bigint,
       "rateCardVersion" int, "availableAfter" bigint, "createdAt" timestamptz)`,
    [
      submissionId,
      nodeId,
      isBegun ? running : dispatched,
      instanceId ?? null,
      JSON.stringify(receipt),
      // The payload is lost and not needed: it is sent only with an assignment, and this submission
      // is already assigned.
      store.sealer.seal(payloadPlace({ ...receipt, id: submissionId }), '{}'),
    ],
  );
  await query(
    `WITH held AS (
       UPDATE credit_accounts SET held_micros = held_micros + $2::bigint, in_flight = in_flight + 1
       WHERE tenant_id = $1::uuid RETURNING balance_micros, held_micros)
     INSERT INTO ledger_entries (id, tenant_id, type, debit_account, credit_account, amount_micros,
       balance_after_micros, held_after_micros, submission_id, created_at)
     SELECT $3::uuid, $1::uuid, 'hold', 'tenant_available', 'tenant_held', $2::bigint, balance_micros,
       held_micros, $4::uuid, svc_now()
     FROM held WHERE $2::bigint > 0`,
    [receipt.tenantId, max, store.newId(), submissionId],
  );
  return 'restored';
}
