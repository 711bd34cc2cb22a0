import {
  eventBody,
  type FailureStatement,
  lateOutcomeEventData,
  type NodeFailureCode,
  statedRetriable,
  type SubmissionState,
  toWireId,
  transitions,
  type Usage,
} from '@svc/domain';
import { batched } from '../connection/batching.ts';
import { concatenated } from '../connection/concatenated.ts';
import type { Query } from '../connection/query.ts';
import { statement } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';
import { destinationColumns, type Destinations } from '../deliveries/destinations.ts';
import { deliveryIdsOf, insertEvents } from '../deliveries/outbox.ts';
import { assignedStates } from '../schema/submission-states.ts';
import { tenantsOf } from '../submissions/submission-tenants.ts';
import { nodeEndingsSql } from './node-endings.ts';
import { sealOutcome } from './service-failures.ts';
import {
  eachOnce,
  type NodeReport,
  placeOfRow,
  raisedColumnNames,
  raisedUsageSql,
  usageParameters,
  usageValues,
} from './usage-reports.ts';

export type NodeOutcome =
  | { kind: 'completed'; usage: Usage; result: unknown }
  | {
      kind: 'failed';
      usage: Usage;
      code: NodeFailureCode;
      message: string;
      /**
       * Facts that the node reports in addition to `code`. They may change whether the failure is
       * retriable.
       */
      stated?: FailureStatement;
    };

type OutcomeReport = NodeReport & { readonly outcome: NodeOutcome };

const storeInBatch = batched<OutcomeReport, { isQuarantined: boolean } | null>({
  run: (store, reports) => eachOnce(reports, (asked) => updateWithOutcomes(store, asked)),
  shared: { intent: 'outcome', submissionIdOf: ({ submissionId }) => submissionId },
});

export type StoreOutcomeResult =
  /**
   * `isQuarantined`: the statement that stored this outcome also quarantined the node, so the node
   * gets no offers for a while.
   */
  | { kind: 'stored'; isQuarantined: boolean }
  /** The submission already has an outcome of the node or a late outcome. */
  | { kind: 'repeated' }
  /**
   * The submission was cancelled, or has an outcome of the service. The report is stored as a late
   * outcome, and an event about it is written.
   */
  | { kind: 'late'; tenantId: string; deliveryIds: string[] }
  /** The report is a `completed` before `begin`. A `failed` before `begin` is stored. */
  | { kind: 'not_begun' }
  | { kind: 'not_yours' };

/**
 * Stores the outcome that a node reports. Returns after the commit, because only then may the
 * dispatcher acknowledge the report (CONTRACT 7).
 */
export async function storeOutcome(
  store: Store,
  report: OutcomeReport,
): Promise<StoreOutcomeResult> {
  const stored = await storeInBatch(store, report);
  if (stored !== null) return { kind: 'stored', ...stored };
  return store.transaction(async (query): Promise<StoreOutcomeResult> => {
    const [row] = await query<LateRow>(
      `SELECT tenant_id, state, outcome_by, late_outcome_status, request_id, svc_now() AS now
       FROM submissions WHERE id = $1::uuid AND node_id = $2::uuid FOR UPDATE`,
      [report.submissionId, report.nodeId],
    );
    if (row === undefined) return { kind: 'not_yours' };
    if (assignedStates.includes(row.state)) return { kind: 'not_begun' };
    if (row.outcome_by === 'node' || row.late_outcome_status !== null) return { kind: 'repeated' };
    const deliveryIds = await recordLateOutcome(store, query, report, row);
    return { kind: 'late', tenantId: row.tenant_id, deliveryIds };
  });
}

interface LateRow {
  tenant_id: string;
  state: SubmissionState;
  outcome_by: string | null;
  late_outcome_status: string | null;
  request_id: string;
  now: Date;
}

const storeOutcomes = statement(
  {
    id: 'uuid[]',
    node_id: 'uuid[]',
    outcome_kind: 'text[]',
    failure_code: 'text[]',
    stated_retriable: 'boolean[]',
    texts: 'bytea',
    text_from: 'int[]',
    text_to: 'int[]',
    from: 'text[]',
    to: 'text',
    begun: 'text',
    ...usageParameters,
  },
  `
  WITH ended AS (
    UPDATE submissions s SET state = $to, outcome_by = 'node', outcome_at = svc_now(),
      (outcome_kind, failure_code, stated_retriable, outcome_sealed, ${raisedColumnNames}) = (
        SELECT ($outcome_kind)[i], ($failure_code)[i], ($stated_retriable)[i],
          substring($texts FROM ($text_from)[i] + 1 FOR ($text_to)[i] - ($text_from)[i]),
          ${raisedUsageSql} FROM ${placeOfRow})
    WHERE s.id = ANY($id)
      AND s.node_id IS NOT DISTINCT FROM ($node_id)[array_position($id, s.id)]
      AND s.state = ANY($from)
      AND (s.state = $begun OR ($outcome_kind)[array_position($id, s.id)] = 'failed')
    RETURNING s.id, s.node_id, s.dispatched_at, s.outcome_by, s.failure_code
  ), ${nodeEndingsSql}
  SELECT e.id, EXISTS (SELECT FROM quarantined q WHERE q.id = e.node_id) AS is_quarantined
  FROM ended e`,
);

async function updateWithOutcomes(
  store: Store,
  reports: readonly OutcomeReport[],
): Promise<Map<string, { isQuarantined: boolean }>> {
  const tenants = await tenantsOf(
    store,
    reports.map(({ submissionId }) => submissionId),
  );
  const texts = concatenated(sealedTexts(store, reports, tenants));
  const outcomes = reports.map(({ outcome }) => outcome);
  const rows = await storeOutcomes<{ id: string; is_quarantined: boolean }>(store.query, {
    id: reports.map(({ submissionId }) => submissionId),
    node_id: reports.map(({ nodeId }) => nodeId),
    outcome_kind: outcomes.map(({ kind }) => kind),
    failure_code: outcomes.map((outcome) => (outcome.kind === 'failed' ? outcome.code : null)),
    stated_retriable: outcomes.map((outcome) =>
      outcome.kind === 'failed' ? statedRetriable(outcome.code, outcome.stated ?? {}) : null,
    ),
    texts: texts.bytes,
    text_from: texts.from,
    text_to: texts.to,
    ...transitions.store_outcome,
    begun: transitions.begin.to,
    ...usageValues(
      store,
      outcomes.map(({ usage }) => usage),
    ),
  });
  return new Map(rows.map((row) => [row.id, { isQuarantined: row.is_quarantined }]));
}

function sealedTexts(
  store: Store,
  reports: readonly OutcomeReport[],
  tenants: ReadonlyMap<string, string>,
): Uint8Array[] {
  return reports.map(({ submissionId, outcome }) => {
    const text =
      outcome.kind === 'failed' ? { message: outcome.message } : { result: outcome.result };
    // `tenants` lacks a tenant only if the submission is unknown. The empty id does no harm then:
    // the statement finds no row, so it does not store the sealed value.
    const tenantId = tenants.get(submissionId) ?? '';
    return sealOutcome(store, { id: submissionId, tenantId, kind: outcome.kind }, text);
  });
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
  // `FOR SHARE` waits if another transaction is changing the webhook URL, and then reads the
  // changed row. The event therefore goes to the new URL.
  const [tenant] = await query<Destinations>(
    `SELECT ${destinationColumns('t')} FROM tenants t WHERE id = $1::uuid FOR SHARE OF t`,
    [row.tenant_id],
  );
  const type = 'submission.late_outcome';
  const data = lateOutcomeEventData({
    submissionId: toWireId('sub', submissionId),
    status,
    at: row.now,
  });
  const events = await insertEvents(store, query, [
    {
      tenantId: row.tenant_id,
      type,
      submissionId,
      requestId: row.request_id,
      notified: tenant?.notified ?? false,
      endpoints: tenant?.endpoints ?? null,
      body: (id) => eventBody({ id: toWireId('evt', id), type, at: row.now, data }),
    },
  ]);
  return deliveryIdsOf(events);
}
