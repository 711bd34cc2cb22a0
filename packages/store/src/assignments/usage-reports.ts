import {
  type CappedUnit,
  formatDecimal,
  leaseMs,
  type SubmissionState,
  transitions,
  type Usage,
  usageCaps,
  type UsageUnit,
} from '@svc/domain';
import { batched } from '../connection/batching.ts';
import { statement, type ValuesOf } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';

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

const recordInBatch = batched<UsageReport, true | null>({
  run: (store, reports) => eachOnce(reports, (asked) => updateUsage(store, asked)),
});

/**
 * Records a cumulative report and renews the lease, if the submission is `running`. Stored usage
 * never decreases. Amounts are cut to the caps (CONTRACT 4 and 7).
 */
export async function recordUsage(store: Store, report: UsageReport): Promise<UsageOutcome> {
  if ((await recordInBatch(store, report)) !== null) return { kind: 'recorded' };
  const state = await stateAtNode(store, report);
  if (state === null) return { kind: 'not_yours' };
  return { kind: state === 'dispatched' ? 'not_begun' : 'ended' };
}

/** The state of a submission that is assigned to this node. Null for any other submission. */
export async function stateAtNode(
  store: Store,
  { submissionId, nodeId }: NodeReport,
): Promise<SubmissionState | null> {
  const [row] = await findState<{ state: SubmissionState }>(store.query, {
    id: submissionId,
    node_id: nodeId,
  });
  return row?.state ?? null;
}

const findState = statement(
  { id: 'uuid', node_id: 'uuid' },
  'SELECT state FROM submissions WHERE id = $id AND node_id IS NOT DISTINCT FROM $node_id',
);

/** The usage columns, in the order of `raisedUsageSql`. */
const usageColumnNames =
  'usage_node_seconds, usage_cpu_seconds, usage_memory_gb_seconds, usage_bandwidth_mb, usage_actions';

export const raisedColumnNames = `${usageColumnNames}, usage_capped`;

/**
 * SQL for the seconds since `begin`. Zero before `begin`, and while the database's clock is behind
 * `started_at`, which can happen after a failover.
 */
const elapsedSeconds =
  'extract(epoch FROM GREATEST(svc_now(), s.started_at) - COALESCE(s.started_at, svc_now()))';

export const usageParameters = {
  node_seconds: 'numeric[]',
  cpu_seconds: 'numeric[]',
  memory_gb_seconds: 'numeric[]',
  bandwidth_mb: 'numeric[]',
  actions: 'numeric[]',
  usage_cap_factor: 'numeric',
} as const;

/**
 * SQL for the smaller of the amount and the cap. A unit that was not reported stays null: without
 * the CASE, LEAST would ignore the null and return the cap.
 */
function cut(amount: string, cap: string): string {
  return `CASE WHEN ${amount} IS NULL THEN NULL ELSE LEAST(${amount}, ${cap}) END`;
}

/**
 * SQL for the new values of `raisedColumnNames` in the row `s`, from report `i`. Stored amounts
 * never decrease, and reported amounts are cut to the caps (CONTRACT 7).
 */
export const raisedUsageSql = raisedUsage();

function raisedUsage(): string {
  const capOf = (unit: CappedUnit) => {
    const { perSecond, allowance } = usageCaps[unit];
    return `$usage_cap_factor * (${perSecond} * ${elapsedSeconds} + ${allowance})`;
  };
  const cpuSeconds = 'trunc(($cpu_seconds)[i], 3)';
  return `GREATEST(s.usage_node_seconds, ${cut('trunc(($node_seconds)[i], 3)', elapsedSeconds)}),
    GREATEST(s.usage_cpu_seconds, ${cut(cpuSeconds, capOf('cpuSeconds'))}),
    GREATEST(s.usage_memory_gb_seconds, ${cut('($memory_gb_seconds)[i]', capOf('memoryGbSeconds'))}),
    GREATEST(s.usage_bandwidth_mb, ${cut('($bandwidth_mb)[i]', capOf('bandwidthMb'))}),
    GREATEST(s.usage_actions, ${cut('($actions)[i]', capOf('actions'))}),
    s.usage_capped OR COALESCE(${cpuSeconds} > ${capOf('cpuSeconds')}, false)
      OR COALESCE(($memory_gb_seconds)[i] > ${capOf('memoryGbSeconds')}, false)
      OR COALESCE(($bandwidth_mb)[i] > ${capOf('bandwidthMb')}, false)
      OR COALESCE(($actions)[i] > ${capOf('actions')}, false)`;
}

/**
 * SQL for `i`, the position of the row's id in `$id`, computed once per row because of `OFFSET 0`.
 * A join is not used, because its plan might not use the primary key.
 */
export const placeOfRow = '(SELECT array_position($id, s.id) AS i OFFSET 0) place';

const raiseUsage = statement(
  { id: 'uuid[]', node_id: 'uuid[]', state: 'text', ...usageParameters },
  `
  WITH updated AS (
    UPDATE submissions s SET lease_expires_at = svc_now() + ${leaseMs} * interval '1 millisecond',
      (${raisedColumnNames}) = (SELECT ${raisedUsageSql} FROM ${placeOfRow})
    WHERE s.id = ANY($id) AND s.state = $state
      AND s.node_id IS NOT DISTINCT FROM ($node_id)[array_position($id, s.id)]
    RETURNING s.id, ${usageColumnNames}
  ), reported AS (
    INSERT INTO usage_reports (submission_id, at, node_seconds, cpu_seconds, memory_gb_seconds, bandwidth_mb, actions)
    SELECT id, svc_now(), ${usageColumnNames} FROM updated
    ON CONFLICT (submission_id, at) DO UPDATE SET node_seconds = EXCLUDED.node_seconds,
      cpu_seconds = EXCLUDED.cpu_seconds, memory_gb_seconds = EXCLUDED.memory_gb_seconds,
      bandwidth_mb = EXCLUDED.bandwidth_mb, actions = EXCLUDED.actions
  )
  SELECT id FROM updated`,
);

async function updateUsage(
  store: Store,
  reports: readonly UsageReport[],
): Promise<Map<string, true>> {
  const rows = await raiseUsage<{ id: string }>(store.query, {
    id: reports.map(({ submissionId }) => submissionId),
    node_id: reports.map(({ nodeId }) => nodeId),
    state: transitions.begin.to,
    ...usageValues(
      store,
      reports.map(({ usage }) => usage),
    ),
  });
  return new Map(rows.map(({ id }) => [id, true]));
}

/**
 * The values of `usageParameters`. An amount is an exact decimal text, or null for a unit that was
 * not reported.
 */
export function usageValues(
  store: Store,
  usages: readonly Usage[],
): ValuesOf<typeof usageParameters> {
  const amountsOf = (unit: UsageUnit) =>
    usages.map((usage) => {
      const amount = usage[unit];
      return amount === undefined ? null : formatDecimal(amount);
    });
  return {
    node_seconds: amountsOf('nodeSeconds'),
    cpu_seconds: amountsOf('cpuSeconds'),
    memory_gb_seconds: amountsOf('memoryGbSeconds'),
    bandwidth_mb: amountsOf('bandwidthMb'),
    actions: amountsOf('actions'),
    usage_cap_factor: store.usageCapFactor,
  };
}

/**
 * Passes each report to `run` once, and at most one report per submission in each call. The answer
 * to a report is null if `run` returned no answer for its submission.
 */
export async function eachOnce<Report extends NodeReport, Answer>(
  reports: readonly Report[],
  run: (reports: readonly Report[]) => Promise<ReadonlyMap<string, Answer>>,
): Promise<(Answer | null)[]> {
  const taken = new Map<Report, Answer>();
  for (let left = [...reports]; left.length > 0;) {
    // One statement updates a row only once, so a second report of a submission waits in `later`.
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
