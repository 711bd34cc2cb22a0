import { formatDecimal, leaseMs, type Usage, usageUnits } from '@svc/domain';
import { createBatcher, perStore } from './batching.ts';
import type { Store } from './store.ts';

/** What a node says about a submission that it was given. */
export interface NodeReport {
  readonly submissionId: string;
  readonly nodeId: string;
}

export type UsageOutcome = { kind: 'recorded' } | { kind: 'not_begun' } | { kind: 'refused' };

type UsageReport = NodeReport & { readonly usage: Usage };

const usageBatcherOf = perStore((store) =>
  createBatcher<UsageReport, boolean>({
    run: (reports) => eachOnce(reports, (asked) => updateUsage(store, asked)),
  }),
);

/**
 * Records a cumulative report and renews the lease. What is stored never goes down, and
 * `nodeSeconds` never exceeds the time since `begin` by the database's clock (CONTRACT.md
 * section 4). `refused`: the submission has ended, or is not this node's. Calls that wait at the
 * same time share one statement.
 */
export async function recordUsage(store: Store, report: UsageReport): Promise<UsageOutcome> {
  if (await usageBatcherOf(store).call(report)) return { kind: 'recorded' };
  const [row] = await store.db.$queryRaw<unknown[]>`
    SELECT 1 FROM submissions WHERE id = ${report.submissionId}::uuid
      AND node_id IS NOT DISTINCT FROM ${report.nodeId}::uuid AND state = ${'dispatched'}`;
  return { kind: row === undefined ? 'refused' : 'not_begun' };
}

/** The usage columns, in the order of `usageUnits`. */
export const usageColumnNames =
  'usage_node_seconds, usage_cpu_seconds, usage_memory_gb_seconds, usage_bandwidth_mb, usage_actions';

/**
 * What the usage columns of `s` become by the reports of `usageValues`, which are the parameters from
 * `first` on, the row's own at place `i`: never down; time is cut to whole milliseconds, and a node's
 * never goes beyond the time since `begin`. That time is zero while the database's clock is behind
 * `started_at`, as it may be after a failover.
 */
export function raisedUsageSql(first: number): string {
  const reported = (unit: number) => `($${first + unit}::numeric[])[i]`;
  return `GREATEST(s.usage_node_seconds, CASE WHEN ${reported(0)} IS NULL THEN NULL
      ELSE LEAST(trunc(${reported(0)}, 3), extract(epoch FROM GREATEST(svc_now(), s.started_at) - COALESCE(s.started_at, svc_now()))) END),
    GREATEST(s.usage_cpu_seconds, trunc(${reported(1)}, 3)),
    GREATEST(s.usage_memory_gb_seconds, ${reported(2)}),
    GREATEST(s.usage_bandwidth_mb, ${reported(3)}), GREATEST(s.usage_actions, ${reported(4)})`;
}

/**
 * Which of the parameters a row's are, looked up once a row. The ids are a condition of the statement
 * and not a join, so that the planner can only walk the primary key (see `dispatching.ts`).
 */
export const placeOfRow = '(SELECT array_position($1::uuid[], s.id) AS i OFFSET 0) place';

const usageSql = `
  WITH updated AS (
    UPDATE submissions s SET lease_expires_at = svc_now() + ${leaseMs} * interval '1 millisecond',
      (${usageColumnNames}) = (SELECT ${raisedUsageSql(3)} FROM ${placeOfRow})
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

/** The submissions whose report was taken. */
async function updateUsage(store: Store, reports: readonly UsageReport[]): Promise<Set<string>> {
  const rows = await store.query<{ id: string }>(usageSql, [
    reports.map(({ submissionId }) => submissionId),
    reports.map(({ nodeId }) => nodeId),
    ...usageValues(reports.map(({ usage }) => usage)),
    'running',
  ]);
  return new Set(rows.map(({ id }) => id));
}

/** Exact texts, an array for each of `usageUnits`; null: not reported. */
export function usageValues(usages: readonly Usage[]): (string | null)[][] {
  return usageUnits.map((unit) =>
    usages.map((usage) => {
      const amount = usage[unit];
      return amount === undefined ? null : formatDecimal(amount);
    }),
  );
}

/**
 * Runs a statement in which a submission may stand only once: of several reports about one, each
 * has its turn after those before it. Answers for each whether the statement took it.
 */
export async function eachOnce<Report extends NodeReport>(
  reports: readonly Report[],
  run: (reports: readonly Report[]) => Promise<ReadonlySet<string>>,
): Promise<boolean[]> {
  const taken = new Set<Report>();
  for (let left = [...reports]; left.length > 0;) {
    const firsts = new Map<string, Report>();
    const later: Report[] = [];
    for (const report of left) {
      if (firsts.has(report.submissionId)) later.push(report);
      else firsts.set(report.submissionId, report);
    }
    const ids = await run([...firsts.values()]);
    for (const id of ids) {
      const report = firsts.get(id);
      if (report !== undefined) taken.add(report);
    }
    left = later;
  }
  return reports.map((report) => taken.has(report));
}
