import {
  eventBody,
  formatDecimal,
  lateOutcomeEventData,
  leaseMs,
  type NodeFailureCode,
  type ServiceFailureCode,
  toWireId,
  type Usage,
  type UsageUnit,
} from '@svc/domain';
import { Prisma } from './generated/client.ts';
import { insertEvents } from './outbox.ts';
import { outcomeBinding, type OutcomeText } from './submissions.ts';
import type { Queryable, Store } from './store.ts';

export type NodeOutcome =
  | { kind: 'completed'; usage: Usage; result: unknown }
  | { kind: 'failed'; usage: Usage; code: NodeFailureCode; message: string };

export interface NodeReport {
  submissionId: string;
  nodeId: string;
}

export type UsageOutcome = { kind: 'recorded' } | { kind: 'not_begun' } | { kind: 'refused' };

/**
 * Records a cumulative report and renews the lease. What is stored never goes down, and
 * `nodeSeconds` never exceeds the time since `begin` by the database's clock (CONTRACT.md
 * section 4). `refused`: the submission has ended, or is not this node's.
 */
export async function recordUsage(
  store: Store,
  report: NodeReport & { usage: Usage },
): Promise<UsageOutcome> {
  const usage = usageParameters(report.usage);
  const recorded = await store.db.$executeRaw`
    WITH updated AS (
      UPDATE submissions SET
        usage_node_seconds = ${boundedNodeSeconds(usage.nodeSeconds)},
        usage_cpu_seconds = GREATEST(usage_cpu_seconds, trunc(${usage.cpuSeconds}::numeric, 3)),
        usage_memory_gb_seconds = GREATEST(usage_memory_gb_seconds, ${usage.memoryGbSeconds}::numeric),
        usage_bandwidth_mb = GREATEST(usage_bandwidth_mb, ${usage.bandwidthMb}::numeric),
        usage_actions = GREATEST(usage_actions, ${usage.actions}::numeric),
        lease_expires_at = svc_now() + ${leaseMs} * interval '1 millisecond'
      WHERE id = ${report.submissionId}::uuid AND node_id IS NOT DISTINCT FROM ${report.nodeId}::uuid AND state = 'running'
      RETURNING id, usage_node_seconds, usage_cpu_seconds, usage_memory_gb_seconds, usage_bandwidth_mb, usage_actions
    )
    INSERT INTO usage_reports (submission_id, at, node_seconds, cpu_seconds, memory_gb_seconds, bandwidth_mb, actions)
    SELECT id, svc_now(), usage_node_seconds, usage_cpu_seconds, usage_memory_gb_seconds, usage_bandwidth_mb, usage_actions
    FROM updated
    ON CONFLICT (submission_id, at) DO UPDATE SET node_seconds = EXCLUDED.node_seconds,
      cpu_seconds = EXCLUDED.cpu_seconds, memory_gb_seconds = EXCLUDED.memory_gb_seconds,
      bandwidth_mb = EXCLUDED.bandwidth_mb, actions = EXCLUDED.actions`;
  if (recorded > 0) return { kind: 'recorded' };
  const [row] = await store.db.$queryRaw<unknown[]>`
    SELECT 1 FROM submissions WHERE id = ${report.submissionId}::uuid
      AND node_id IS NOT DISTINCT FROM ${report.nodeId}::uuid AND state = 'dispatched'`;
  return { kind: row === undefined ? 'refused' : 'not_begun' };
}

export type StoreOutcomeResult =
  | { kind: 'stored' }
  | { kind: 'repeated' }
  | { kind: 'late'; tenantId: string; deliveryIds: string[] }
  | { kind: 'not_begun' }
  | { kind: 'not_yours' };

/**
 * Stores what a node reports as the end of its work, durably, before it may be acknowledged
 * (CONTRACT.md section 7). A `failed` is taken before `begin` too, a `completed` only after it
 * (`not_begun`). Where the submission has ended otherwise without an outcome of its node, the
 * first such report is kept as a late outcome with its event; it changes no money and no status.
 */
export async function storeOutcome(
  store: Store,
  report: NodeReport & { outcome: NodeOutcome },
): Promise<StoreOutcomeResult> {
  if (await updateWithOutcome(store, report)) return { kind: 'stored' };
  return store.db.$transaction(async (tx): Promise<StoreOutcomeResult> => {
    const [row] = await tx.$queryRaw<LateRow[]>`
      SELECT tenant_id, state, outcome_by, late_outcome_status, request_id, svc_now() AS now
      FROM submissions
      WHERE id = ${report.submissionId}::uuid AND node_id = ${report.nodeId}::uuid FOR UPDATE`;
    if (row === undefined) return { kind: 'not_yours' };
    if (row.state === 'dispatched' || row.state === 'running') return { kind: 'not_begun' };
    if (row.outcome_by === 'node' || row.late_outcome_status !== null) return { kind: 'repeated' };
    const deliveryIds = await recordLateOutcome(store, tx, report, row);
    return { kind: 'late', tenantId: row.tenant_id, deliveryIds };
  });
}

interface LateRow {
  tenant_id: string;
  state: string;
  outcome_by: string | null;
  late_outcome_status: string | null;
  request_id: string;
  now: Date;
}

async function updateWithOutcome(
  store: Store,
  { submissionId, nodeId, outcome }: NodeReport & { outcome: NodeOutcome },
): Promise<boolean> {
  const usage = usageParameters(outcome.usage);
  const failed = outcome.kind === 'failed';
  const text: OutcomeText = failed ? { message: outcome.message } : { result: outcome.result };
  const changed = await store.db.$executeRaw`
    UPDATE submissions SET state = 'settling', outcome_kind = ${outcome.kind}, outcome_by = 'node',
      outcome_at = svc_now(), failure_code = ${failed ? outcome.code : null},
      outcome_sealed = ${sealOutcome(store, submissionId, text)},
      usage_node_seconds = ${boundedNodeSeconds(usage.nodeSeconds)},
      usage_cpu_seconds = GREATEST(usage_cpu_seconds, trunc(${usage.cpuSeconds}::numeric, 3)),
      usage_memory_gb_seconds = GREATEST(usage_memory_gb_seconds, ${usage.memoryGbSeconds}::numeric),
      usage_bandwidth_mb = GREATEST(usage_bandwidth_mb, ${usage.bandwidthMb}::numeric),
      usage_actions = GREATEST(usage_actions, ${usage.actions}::numeric)
    WHERE id = ${submissionId}::uuid AND node_id IS NOT DISTINCT FROM ${nodeId}::uuid
      AND (state = 'running' OR (state = 'dispatched' AND ${failed}))`;
  return changed > 0;
}

async function recordLateOutcome(
  store: Store,
  tx: Queryable,
  { submissionId, outcome }: NodeReport & { outcome: NodeOutcome },
  row: LateRow,
): Promise<string[]> {
  const status = outcome.kind === 'completed' ? 'submitted' : 'failed';
  await tx.$executeRaw`
    UPDATE submissions SET late_outcome_status = ${status}, late_outcome_at = ${row.now}
    WHERE id = ${submissionId}::uuid AND late_outcome_status IS NULL`;
  const [tenant] = await tx.$queryRaw<{ notified: boolean }[]>`
    SELECT webhook_url IS NOT NULL AND webhook_disabled_at IS NULL AS notified
    FROM tenants WHERE id = ${row.tenant_id}::uuid`;
  const type = 'submission.late_outcome';
  const data = lateOutcomeEventData({
    submissionId: toWireId('sub', submissionId),
    status,
    at: row.now,
  });
  const deliveryIds = await insertEvents(store, tx, [
    {
      tenantId: row.tenant_id,
      type,
      submissionId,
      requestId: row.request_id,
      notified: tenant?.notified ?? false,
      body: (id) => eventBody({ id: toWireId('evt', id), type, at: row.now, data }),
    },
  ]);
  return deliveryIds.filter((id) => id !== null);
}

const serviceFailureMessages: Record<ServiceFailureCode, string> = {
  node_lost: 'The node that ran the submission was lost.',
  not_started: 'The node did not start the submission in time.',
  deadline_exceeded: 'The submission ran longer than its tier allows.',
};

export type ServiceFailureResult = { kind: 'stored'; nodeId: string } | { kind: 'refused' };

/**
 * Ends a submission as the service's own finding (CONTRACT.md section 7, "Nothing hangs"). The
 * condition is looked at again here, by the database's clock: a lease that was renewed meanwhile,
 * or an outcome that came, refuses it. With `nodeId` the finding is that this node said hello
 * without it, which needs no lease to have run out.
 */
export async function storeServiceFailure(
  store: Store,
  failure: { submissionId: string; code: ServiceFailureCode; nodeId?: string },
): Promise<ServiceFailureResult> {
  const { submissionId, code } = failure;
  const nodeId = failure.nodeId ?? null;
  const sealed = sealOutcome(store, submissionId, { message: serviceFailureMessages[code] });
  const [row] = await store.db.$queryRaw<{ node_id: string }[]>`
    UPDATE submissions SET state = 'settling', outcome_kind = 'failed', outcome_by = 'service',
      outcome_at = svc_now(), failure_code = ${code}, outcome_sealed = ${sealed}
    WHERE id = ${submissionId}::uuid AND state IN ('dispatched', 'running') AND CASE ${code}
      WHEN 'node_lost' THEN node_id = ${nodeId}::uuid
        OR (${nodeId}::uuid IS NULL AND state = 'running' AND lease_expires_at <= svc_now())
      WHEN 'not_started' THEN state = 'dispatched' AND start_deadline_at <= svc_now()
      ELSE run_deadline_at <= svc_now() END
    RETURNING node_id`;
  return row === undefined ? { kind: 'refused' } : { kind: 'stored', nodeId: row.node_id };
}

/** What a node was given and has not ended is lost with it; answers what is to be settled. */
export async function loseAssignments(
  store: Store,
  tx: Queryable,
  nodeId: string,
): Promise<string[]> {
  const code: ServiceFailureCode = 'node_lost';
  const assigned = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM submissions WHERE node_id = ${nodeId}::uuid AND state IN ('dispatched', 'running')
    ORDER BY id FOR UPDATE`;
  if (assigned.length === 0) return [];
  const rows = assigned.map(({ id }) => {
    const sealed = sealOutcome(store, id, { message: serviceFailureMessages[code] });
    return { id, sealed: Buffer.from(sealed).toString('hex') };
  });
  await tx.$executeRaw`
    UPDATE submissions s SET state = 'settling', outcome_kind = 'failed', outcome_by = 'service',
      outcome_at = svc_now(), failure_code = ${code}, outcome_sealed = decode(r.sealed, 'hex')
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r (id uuid, sealed text)
    WHERE s.id = r.id`;
  return assigned.map(({ id }) => id);
}

function sealOutcome(store: Store, submissionId: string, text: OutcomeText): Uint8Array {
  return store.sealer.seal(outcomeBinding(submissionId), JSON.stringify(text));
}

/** Exact texts for the usage columns; null: not reported. */
function usageParameters(usage: Usage): Record<UsageUnit, string | null> {
  const text = (unit: UsageUnit) => {
    const amount = usage[unit];
    return amount === undefined ? null : formatDecimal(amount);
  };
  return {
    nodeSeconds: text('nodeSeconds'),
    cpuSeconds: text('cpuSeconds'),
    memoryGbSeconds: text('memoryGbSeconds'),
    bandwidthMb: text('bandwidthMb'),
    actions: text('actions'),
  };
}

/** Cut to whole milliseconds, never down, never beyond the time since `begin`. */
function boundedNodeSeconds(reported: string | null): Prisma.Sql {
  return Prisma.sql`GREATEST(usage_node_seconds, CASE WHEN ${reported}::numeric IS NULL THEN NULL
    ELSE LEAST(trunc(${reported}::numeric, 3), extract(epoch FROM svc_now() - COALESCE(started_at, svc_now()))) END)`;
}
