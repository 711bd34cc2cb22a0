import { leaseMs, runLimitMs, startDeadlineMs, transitions } from '@svc/domain';
import { sqlState, uniqueViolation } from '../connection/errors.ts';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { lockAccount } from '../ledger/account.ts';
import { payloadPlace } from '../sealing/sealed.ts';
import { countUnreadable, noteFinding, type ReportFinding } from './findings.ts';
import { lockRecoveryInForce } from './in-force.ts';
import { findQuotedCard } from './quoted-card.ts';
import { openReceipt, type Receipt } from './receipts.ts';
import { unknownNodeId } from './recovery.ts';

export interface JournalReport {
  readonly submissionId: string;
  readonly nodeId: string;
  readonly receipt: string;
  /** True if the node may have begun the submission. */
  readonly isBegun: boolean;
  readonly instanceId: string | undefined;
}

/** Applies the report of a node. Returns null and changes nothing if no recovery is in force. */
export async function applyReport(
  store: Store,
  report: JournalReport,
): Promise<ReportFinding | null> {
  const apply = (insertMissing: boolean) =>
    store.transaction(async (query) => {
      // The lock keeps the recovery from ending before this report is stored with its effect.
      const incarnation = await lockRecoveryInForce(query);
      if (incarnation === null) return null;
      const receipt = await openReceipt(query, store.sealer, report);
      const found = await advance(query, report, receipt);
      const finding =
        found ?? (insertMissing ? await insert(store, query, report, receipt) : 'key_taken');
      const { submissionId, nodeId } = report;
      if (finding === 'unreadable') {
        await countUnreadable(query, { incarnation, nodeId });
        return finding;
      }
      const tenantId = receipt?.tenantId ?? null;
      const quoted = finding === 'rate_card_missing' ? quotedPrices(receipt) : null;
      await noteFinding(query, { incarnation, submissionId, nodeId, tenantId, finding, quoted });
      return finding;
    });
  try {
    return await apply(true);
  } catch (error) {
    if (sqlState(error) !== uniqueViolation) throw error;
    return await apply(false);
  }
}

function quotedPrices(receipt: Receipt | null) {
  if (receipt === null) return null;
  const { rateCardVersion, jobType, tier, rate = null } = receipt;
  return { rateCardVersion, jobType, tier, rate };
}

/**
 * Notes that a node has reported its whole history, and how many of these reports could not be read.
 * Does nothing if no recovery is in force.
 */
export async function noteReported(
  store: Store,
  { nodeId, unreadable }: { readonly nodeId: string; readonly unreadable: number },
): Promise<void> {
  await store.query(
    `WITH in_force AS (SELECT incarnation FROM recoveries WHERE ended_at IS NULL FOR SHARE),
     counted AS (
       UPDATE recovery_unreadable u SET reports = $2 FROM in_force r
       WHERE u.incarnation = r.incarnation AND u.node_id = $1::uuid)
     INSERT INTO recovery_nodes (incarnation, node_id, reported_at)
     SELECT incarnation, $1::uuid, svc_now() FROM in_force
     ON CONFLICT DO NOTHING`,
    [nodeId, unreadable],
  );
}

const runDeadline = `svc_now() + interval '1 millisecond' * CASE tier
  WHEN 'instant' THEN ${runLimitMs.instant} WHEN 'priority' THEN ${runLimitMs.priority}
  ELSE ${runLimitMs.standard} END`;
const startDeadline = `svc_now() + ${startDeadlineMs} * interval '1 millisecond'`;
const lease = `svc_now() + ${leaseMs} * interval '1 millisecond'`;
const { to: running } = transitions.begin;
const { to: dispatched } = transitions.dispatch;
const { to: rejected } = transitions.reject;

/**
 * Advances a submission to `running` or `dispatched`, or returns null if it is missing. Without a
 * readable receipt, a node gets no submission that is not assigned to it.
 */
async function advance(
  query: Query,
  report: JournalReport,
  receipt: Receipt | null,
): Promise<ReportFinding | null> {
  const { submissionId, nodeId, isBegun, instanceId } = report;
  const [row] = await query<{ state: string; node_id: string | null }>(
    'SELECT state, node_id FROM submissions WHERE id = $1::uuid FOR UPDATE',
    [submissionId],
  );
  if (row === undefined) return null;
  const isUnassigned = row.node_id === null || row.node_id === unknownNodeId;
  if (receipt === null && row.node_id !== nodeId) return 'unreadable';
  if (!isUnassigned && row.node_id !== nodeId) return 'not_this_nodes';
  if (row.state === rejected) return rejected;
  const isBefore = row.state === 'pending' || (row.state === dispatched && isBegun);
  if (!isBefore) {
    await confirm(query, report);
    return 'known';
  }
  await query(
    `UPDATE submissions SET state = $3, node_id = $2::uuid,
       dispatched_at = COALESCE(dispatched_at, svc_now()),
       start_deadline_at = COALESCE(start_deadline_at, ${startDeadline}),
       run_deadline_at = COALESCE(run_deadline_at, ${runDeadline}),
       started_at = CASE WHEN $3 = '${running}' THEN COALESCE(started_at, svc_now()) END,
       lease_expires_at = CASE WHEN $3 = '${running}' THEN ${lease} END,
       begun_instance = CASE WHEN $3 = '${running}' THEN $4 END
     WHERE id = $1::uuid`,
    [submissionId, nodeId, isBegun ? running : dispatched, instanceId ?? null],
  );
  return 'advanced';
}

/**
 * Renews the lease of a run, or the time to start it. A submission that ended without a node gets
 * the node, so that the outcome is kept as a late one.
 */
async function confirm(query: Query, { submissionId, nodeId }: JournalReport): Promise<void> {
  await query(
    `UPDATE submissions SET node_id = $2::uuid,
       lease_expires_at = CASE WHEN state = '${running}' THEN ${lease} ELSE lease_expires_at END,
       start_deadline_at = CASE WHEN state = '${dispatched}' THEN ${startDeadline} ELSE start_deadline_at END
     WHERE id = $1::uuid AND (state = ANY($3::text[]) OR node_id IS DISTINCT FROM $2::uuid)`,
    [submissionId, nodeId, transitions.store_outcome.from],
  );
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
  const rateCardVersion = await findQuotedCard(query, receipt);
  if (rateCardVersion === null) return 'rate_card_missing';
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
       ${startDeadline}, ${runDeadline},
       CASE WHEN $3 = '${running}' THEN svc_now() END,
       CASE WHEN $3 = '${running}' THEN ${lease} END,
       CASE WHEN $3 = '${running}' THEN $4 END
     FROM jsonb_to_record($5::jsonb) AS r ("tenantId" text, "idempotencyKey" text, "requestHash" text,
       "requestId" text, "jobType" text, tier text, estimated bigint, max bigint, surge bigint,
       "rateCardVersion" int, "availableAfter" bigint, "createdAt" timestamptz)`,
    [
      submissionId,
      nodeId,
      isBegun ? running : dispatched,
      instanceId ?? null,
      JSON.stringify({ ...receipt, rateCardVersion }),
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
