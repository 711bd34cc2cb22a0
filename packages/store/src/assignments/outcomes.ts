import {
  eventBody,
  lateOutcomeEventData,
  type NodeFailureCode,
  toWireId,
  type Usage,
} from '@svc/domain';
import { createBatcher, perStore } from '../connection/batching.ts';
import { nodeEndingsSql } from './node-endings.ts';
import { insertEvents } from '../deliveries/outbox.ts';
import { sealOutcome } from './service-failures.ts';
import type { Query, Store } from '../connection/store.ts';
import { tenantsOf } from '../submissions/submission-tenants.ts';
import {
  eachOnce,
  type NodeReport,
  placeOfRow,
  raisedColumnNames,
  raisedUsageSql,
  usageValues,
} from './usage-reports.ts';

export type NodeOutcome =
  | { kind: 'completed'; usage: Usage; result: unknown }
  | { kind: 'failed'; usage: Usage; code: NodeFailureCode; message: string };

type OutcomeReport = NodeReport & { readonly outcome: NodeOutcome };

const outcomeBatcherOf = perStore((store) =>
  createBatcher<OutcomeReport, { isQuarantined: boolean } | null>({
    run: (reports) => eachOnce(reports, (asked) => updateWithOutcomes(store, asked)),
  }),
);

export type StoreOutcomeResult =
  /** `isQuarantined`: this outcome quarantined the node, which gets no offers for a while. */
  | { kind: 'stored'; isQuarantined: boolean }
  | { kind: 'repeated' }
  | { kind: 'late'; tenantId: string; deliveryIds: string[] }
  | { kind: 'not_begun' }
  | { kind: 'not_yours' };

/**
 * Stores the outcome that a node reports, durably. The dispatcher acknowledges it only after that
 * (CONTRACT 7). A `failed` is accepted before `begin` too; a `completed` is accepted
 * only after it (otherwise `not_begun`). If the submission has already ended without an outcome of
 * its node, the first report is kept as a late outcome, with its event. A late outcome changes no
 * money and no status.
 *
 * Calls that wait at the same time share one statement. A report that the statement does not take
 * is then handled alone.
 */
export async function storeOutcome(
  store: Store,
  report: OutcomeReport,
): Promise<StoreOutcomeResult> {
  const stored = await outcomeBatcherOf(store).call(report);
  if (stored !== null) return { kind: 'stored', ...stored };
  return store.transaction(async (query): Promise<StoreOutcomeResult> => {
    const [row] = await query<LateRow>(
      `SELECT tenant_id, state, outcome_by, late_outcome_status, request_id, svc_now() AS now
       FROM submissions WHERE id = $1::uuid AND node_id = $2::uuid FOR UPDATE`,
      [report.submissionId, report.nodeId],
    );
    if (row === undefined) return { kind: 'not_yours' };
    if (row.state === 'dispatched' || row.state === 'running') return { kind: 'not_begun' };
    if (row.outcome_by === 'node' || row.late_outcome_status !== null) return { kind: 'repeated' };
    const deliveryIds = await recordLateOutcome(store, query, report, row);
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

const outcomeSql = `
  WITH ended AS (
    UPDATE submissions s SET state = 'settling', outcome_by = 'node', outcome_at = svc_now(),
      (outcome_kind, failure_code, outcome_sealed, ${raisedColumnNames}) = (
        SELECT ($3::text[])[i], ($4::text[])[i],
          substring($5::bytea FROM ($6::int[])[i] + 1 FOR ($7::int[])[i] - ($6::int[])[i]),
          ${raisedUsageSql({ first: 8, factor: 14 })} FROM ${placeOfRow})
    WHERE s.id = ANY($1::uuid[])
      AND s.node_id IS NOT DISTINCT FROM ($2::uuid[])[array_position($1::uuid[], s.id)]
      AND s.state = ANY($13::text[])
      AND (s.state <> 'dispatched' OR ($3::text[])[array_position($1::uuid[], s.id)] = 'failed')
    RETURNING s.id, s.node_id, s.dispatched_at, s.outcome_by, s.failure_code
  ), ${nodeEndingsSql}
  SELECT e.id, EXISTS (SELECT FROM quarantined q WHERE q.id = e.node_id) AS is_quarantined
  FROM ended e`;

/**
 * The submissions whose outcome was stored, by id, and whether the outcome quarantined their node.
 */
async function updateWithOutcomes(
  store: Store,
  reports: readonly OutcomeReport[],
): Promise<Map<string, { isQuarantined: boolean }>> {
  const tenants = await tenantsOf(
    store,
    reports.map(({ submissionId }) => submissionId),
  );
  const { bytes, from, to } = sealedTexts(store, reports, tenants);
  const outcomes = reports.map(({ outcome }) => outcome);
  const rows = await store.query<{ id: string; is_quarantined: boolean }>(outcomeSql, [
    reports.map(({ submissionId }) => submissionId),
    reports.map(({ nodeId }) => nodeId),
    outcomes.map(({ kind }) => kind),
    outcomes.map((outcome) => (outcome.kind === 'failed' ? outcome.code : null)),
    bytes,
    from,
    to,
    ...usageValues(outcomes.map(({ usage }) => usage)),
    ['dispatched', 'running'],
    store.usageCapFactor,
  ]);
  return new Map(rows.map((row) => [row.id, { isQuarantined: row.is_quarantined }]));
}

/**
 * The results and failure messages of the nodes, sealed and concatenated. `from[i]` and `to[i]` are
 * the byte offsets of report `i`.
 */
function sealedTexts(
  store: Store,
  reports: readonly OutcomeReport[],
  tenants: ReadonlyMap<string, string>,
) {
  const parts: Uint8Array[] = [];
  const from: number[] = [];
  const to: number[] = [];
  let length = 0;
  for (const { submissionId, outcome } of reports) {
    const text =
      outcome.kind === 'failed' ? { message: outcome.message } : { result: outcome.result };
    // An unknown submission has no tenant. No row takes the value that is sealed here.
    const tenantId = tenants.get(submissionId) ?? '';
    const sealed = sealOutcome(store, { id: submissionId, tenantId, kind: outcome.kind }, text);
    parts.push(sealed);
    from.push(length);
    to.push((length += sealed.byteLength));
  }
  return { bytes: Buffer.concat(parts, length), from, to };
}

async function recordLateOutcome(
  store: Store,
  query: Query,
  { submissionId, outcome }: OutcomeReport,
  row: LateRow,
): Promise<string[]> {
  const status = outcome.kind === 'completed' ? 'submitted' : 'failed';
  await query(
    `UPDATE submissions SET late_outcome_status = $2, late_outcome_at = $3
     WHERE id = $1::uuid AND late_outcome_status IS NULL`,
    [submissionId, status, row.now],
  );
  // Locked until the commit, so that an event written after a change of the URL goes to the new
  // URL.
  const [tenant] = await query<{ notified: boolean }>(
    `SELECT webhook_url IS NOT NULL AND webhook_disabled_at IS NULL AS notified
     FROM tenants WHERE id = $1::uuid FOR SHARE`,
    [row.tenant_id],
  );
  const type = 'submission.late_outcome';
  const data = lateOutcomeEventData({
    submissionId: toWireId('sub', submissionId),
    status,
    at: row.now,
  });
  const deliveryIds = await insertEvents(store, query, [
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
