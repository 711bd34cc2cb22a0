import {
  type CappedUnit,
  formatDecimal,
  leaseMs,
  type SubmissionState,
  type Usage,
  usageCaps,
  usageUnits,
} from '@svc/domain';
import { createBatcher, perStore } from '../connection/batching.ts';
import type { Store } from '../connection/store.ts';

/** Identifies a report of a node about a submission that is assigned to it. */
export interface NodeReport {
  readonly submissionId: string;
  readonly nodeId: string;
}

export type UsageOutcome =
  | { kind: 'recorded' }
  | { kind: 'not_begun' }
  | { kind: 'ended' }
  | { kind: 'not_yours' };

type UsageReport = NodeReport & { readonly usage: Usage };

const usageBatcherOf = perStore((store) =>
  createBatcher<UsageReport, true | null>({
    run: (reports) => eachOnce(reports, (asked) => updateUsage(store, asked)),
  }),
);

/**
 * Records a cumulative report and renews the lease. Stored usage never decreases, and `nodeSeconds`
 * never exceeds the time since `begin` by the database's clock (CONTRACT 4). Calls that
 * wait at the same time share one statement.
 */
export async function recordUsage(store: Store, report: UsageReport): Promise<UsageOutcome> {
  if ((await usageBatcherOf(store).call(report)) !== null) return { kind: 'recorded' };
  const state = await stateAtNode(store, report);
  if (state === null) return { kind: 'not_yours' };
  return { kind: state === 'dispatched' ? 'not_begun' : 'ended' };
}

/** The state of a submission that is assigned to this node. Null for any other submission. */
export async function stateAtNode(
  store: Store,
  { submissionId, nodeId }: NodeReport,
): Promise<SubmissionState | null> {
  const [row] = await store.db.$queryRaw<{ state: SubmissionState }[]>`
    SELECT state FROM submissions WHERE id = ${submissionId}::uuid
      AND node_id IS NOT DISTINCT FROM ${nodeId}::uuid`;
  return row?.state ?? null;
}

/** The usage columns, in the order of `usageUnits`. */
const usageColumnNames =
  'usage_node_seconds, usage_cpu_seconds, usage_memory_gb_seconds, usage_bandwidth_mb, usage_actions';

/** The columns that `raisedUsageSql` gives values for. */
export const raisedColumnNames = `${usageColumnNames}, usage_capped`;

/** Zero while the database's clock is behind `started_at`, which can happen after a failover. */
const elapsedSeconds =
  'extract(epoch FROM GREATEST(svc_now(), s.started_at) - COALESCE(s.started_at, svc_now()))';

/** The number of the first parameter from `usageValues` in a statement, and of the cap factor. */
interface UsageParameters {
  readonly first: number;
  readonly factor: number;
}

/**
 * An unreported unit stays null. Without the CASE, LEAST would ignore the null and return the cap.
 */
function cut(amount: string, cap: string): string {
  return `CASE WHEN ${amount} IS NULL THEN NULL ELSE LEAST(${amount}, ${cap}) END`;
}

/**
 * SQL for the new values of the usage columns of `s`; the row's report is at position `i`. A value
 * never decreases. Time is cut to whole milliseconds. Node-seconds are cut to the time since
 * `begin`, and the other units to the cap of `capUsage` in the domain. The last value is true if
 * any unit was cut.
 */
export function raisedUsageSql({ first, factor }: UsageParameters): string {
  const reported = (place: number) => `($${first + place}::numeric[])[i]`;
  const capOf = (unit: CappedUnit) => {
    const { perSecond, allowance } = usageCaps[unit];
    return `$${factor}::numeric * (${perSecond} * ${elapsedSeconds} + ${allowance})`;
  };
  const cpuSeconds = `trunc(${reported(1)}, 3)`;
  return `GREATEST(s.usage_node_seconds, ${cut(`trunc(${reported(0)}, 3)`, elapsedSeconds)}),
    GREATEST(s.usage_cpu_seconds, ${cut(cpuSeconds, capOf('cpuSeconds'))}),
    GREATEST(s.usage_memory_gb_seconds, ${cut(reported(2), capOf('memoryGbSeconds'))}),
    GREATEST(s.usage_bandwidth_mb, ${cut(reported(3), capOf('bandwidthMb'))}),
    GREATEST(s.usage_actions, ${cut(reported(4), capOf('actions'))}),
    s.usage_capped OR COALESCE(${cpuSeconds} > ${capOf('cpuSeconds')}, false)
      OR COALESCE(${reported(2)} > ${capOf('memoryGbSeconds')}, false)
      OR COALESCE(${reported(3)} > ${capOf('bandwidthMb')}, false)
      OR COALESCE(${reported(4)} > ${capOf('actions')}, false)`;
}

/**
 * The position of a row's parameters, looked up once per row. The ids are a condition of the
 * statement and not a join, so that the planner can only use the primary key (see `dispatch.ts`).
 */
export const placeOfRow = '(SELECT array_position($1::uuid[], s.id) AS i OFFSET 0) place';

const usageSql = `
  WITH updated AS (
    UPDATE submissions s SET lease_expires_at = svc_now() + ${leaseMs} * interval '1 millisecond',
      (${raisedColumnNames}) = (SELECT ${raisedUsageSql({ first: 3, factor: 9 })} FROM ${placeOfRow})
    WHERE s.id = ANY($1::uuid[]) AND s.state = $8
      AND s.node_id IS NOT DISTINCT FROM ($2::uuid[])[array_position($1::uuid[], s.id)]
    RETURNING s.id, ${usageColumnNames}
  ), reported AS (
    INSERT INTO usage_reports (submission_id, at, node_seconds, cpu_seconds, memory_gb_seconds, bandwidth_mb, actions)
    SELECT id, svc_now(), ${usageColumnNames} FROM updated
    ON CONFLICT (submission_id, at) DO UPDATE SET node_seconds = EXCLUDED.node_seconds,
      cpu_seconds = EXCLUDED.cpu_seconds, memory_gb_seconds = EXCLUDED.memory_gb_seconds,
      bandwidth_mb = EXCLUDED.bandwidth_mb, actions = EXCLUDED.actions
  )
  SELECT id FROM updated`;

/** The submissions whose report was recorded. */
async function updateUsage(
  store: Store,
  reports: readonly UsageReport[],
): Promise<Map<string, true>> {
  const rows = await store.query<{ id: string }>(usageSql, [
    reports.map(({ submissionId }) => submissionId),
    reports.map(({ nodeId }) => nodeId),
    ...usageValues(reports.map(({ usage }) => usage)),
    'running',
    store.usageCapFactor,
  ]);
  return new Map(rows.map(({ id }) => [id, true]));
}

/** Exact decimal texts, one array for each of `usageUnits`. Null means not reported. */
export function usageValues(usages: readonly Usage[]): (string | null)[][] {
  return usageUnits.map((unit) =>
    usages.map((usage) => {
      const amount = usage[unit];
      return amount === undefined ? null : formatDecimal(amount);
    }),
  );
}

/**
 * Runs a statement in which a submission may occur only once. If there are several reports about
 * one submission, they run one after another, in their order. Returns the statement's answer for
 * each report; null if the statement did not take it.
 */
export async function eachOnce<Report extends NodeReport, Answer>(
  reports: readonly Report[],
  run: (reports: readonly Report[]) => Promise<ReadonlyMap<string, Answer>>,
): Promise<(Answer | null)[]> {
  const taken = new Map<Report, Answer>();
  for (let left = [...reports]; left.length > 0;) {
    const firsts = new Map<string, Report>();
    const later: Report[] = [];
    for (const report of left) {
      if (firsts.has(report.submissionId)) later.push(report);
      else firsts.set(report.submissionId, report);
    }
    for (const [id, answer] of await run([...firsts.values()])) {
      const report = firsts.get(id);
      if (report !== undefined) taken.set(report, answer);
    }
    left = later;
  }
  return reports.map((report) => taken.get(report) ?? null);
}
