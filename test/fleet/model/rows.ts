import { toWireId } from '@svc/domain';
import type { QueryResultRow } from 'pg';
import type { Auditor } from './auditor.ts';

export type Query = <Row extends QueryResultRow>(sql: string, values?: unknown[]) => Promise<Row[]>;

export interface Row {
  readonly [column: string]: unknown;
  readonly id: string;
  readonly state: string;
  readonly node_id: string | null;
  readonly tier: string;
  readonly outcome_kind: string | null;
  readonly outcome_by: string | null;
  readonly late_outcome_status: string | null;
  readonly begun: boolean;
  /** True if the submission was dispatched before its deadline. Null if it was never dispatched. */
  readonly in_time: boolean | null;
  readonly ran_ms: number | null;
  readonly actions: number | null;
  /**
   * True if the node reported more than the cap of some unit. Node-seconds do not count here,
   * although they have a cap too.
   */
  readonly is_capped: boolean;
  /**
   * The price of the usage by the default rate card, in micros. It leaves out the base price, the
   * tier and surge.
   */
  readonly used: string;
  readonly surge: string;
  readonly max: string;
  readonly charged: string | null;
  readonly movements: Readonly<Record<string, number>> | null;
  readonly events: readonly string[] | null;
}

export async function readRows(query: Query, tenantId: string): Promise<Map<string, Row>> {
  const rows = await query<Row>(
    `SELECT id, state, node_id, tier, outcome_kind, outcome_by, late_outcome_status,
      started_at IS NOT NULL AS begun, dispatched_at < dispatch_deadline_at AS in_time,
      (extract(epoch FROM finished_at - started_at) * 1000)::float8 AS ran_ms,
      usage_actions::float8 AS actions, usage_capped AS is_capped,
      1e6 * (0.5 * COALESCE(usage_node_seconds, 0) + 0.2 * COALESCE(usage_cpu_seconds, 0)
        + 0.05 * COALESCE(usage_memory_gb_seconds, 0) + 0.1 * COALESCE(usage_bandwidth_mb, 0)
        + 0.5 * COALESCE(usage_actions, 0)) AS used,
      surge_micros AS surge, quote_max_micros AS max, charged_micros AS charged,
      (SELECT jsonb_object_agg(type, amount) FROM (SELECT type, sum(amount_micros) AS amount
        FROM ledger_entries e WHERE e.submission_id = s.id GROUP BY type) m) AS movements,
      (SELECT array_agg(type) FROM events e WHERE e.submission_id = s.id) AS events
    FROM submissions s WHERE tenant_id = $1`,
    [tenantId],
  );
  return new Map(rows.map((row) => [toWireId('sub', row.id), row]));
}

const ended = new Set(['submitted', 'failed', 'cancelled', 'rejected']);

export function compareRow(auditor: Auditor, wireId: string, row: Row): void {
  const seen = auditor.of(wireId);
  const complain = (what: string): void => auditor.complain(wireId, what);
  if (!ended.has(row.state)) return complain(`has not ended: its state is ${row.state}`);
  if (row.in_time === false) complain('was dispatched, but not before its dispatch deadline');
  for (const nodeId of [...seen.assignedTo, ...seen.beginSentTo, ...seen.actedBy]) {
    if (nodeId !== row.node_id)
      complain(`was given to or executed by ${nodeId}, but its row names the node ${row.node_id}`);
  }
  if (seen.beginSentTo.size > 0 && !row.begun)
    complain('has no start time in its row, although a node got begin');
  if (auditor.sees(row.node_id)) compareOutcome(auditor, wireId, row);
  const events = (row.events ?? []).filter((type) => type !== 'submission.late_outcome');
  if (events.length !== (row.state === 'rejected' ? 0 : 1))
    complain(`must have one end event (none if rejected), but has [${events.join()}]`);
  compareCharge(row, complain);
}

function compareOutcome(auditor: Auditor, wireId: string, row: Row): void {
  const { outcomes, acknowledged, actionsReported } = auditor.of(wireId);
  const complain = (what: string): void => auditor.complain(wireId, what);
  const own = outcomes.filter(({ nodeId }) => nodeId === row.node_id).map(({ frame }) => frame);
  const said = new Set<string>(own.map(({ type }) => type));
  if (row.outcome_by === 'node' && !said.has(row.outcome_kind ?? ''))
    complain(`its row has the node's outcome ${row.outcome_kind}, but the node never reported it`);
  if (row.state === 'submitted' && !said.has('completed'))
    complain('is submitted, but its node did not report `completed`');
  const isKept = row.outcome_by === 'node' || row.late_outcome_status !== null;
  const wasStored = own.length > 0 && row.node_id !== null && acknowledged.has(row.node_id);
  if (wasStored && !isKept) complain('an acknowledged outcome is not stored');
  if (!isReported(row, actionsReported))
    complain(`its row has ${row.actions} actions, but its node never reported this number`);
}

/** The cap of the actions of a run that has just begun (CONTRACT 7, "Usage"). */
const actionsCapMin = 100;

/**
 * True if the stored number of actions is null, 0 or a number that the node reported. Also true if
 * it may be the cap, because the cap replaces a higher reported number.
 */
function isReported({ actions, is_capped }: Row, reported: ReadonlySet<number>): boolean {
  if (actions === null || actions === 0 || reported.has(actions)) return true;
  return is_capped && actions >= actionsCapMin && Math.max(...reported) > actions;
}

const multipliers: Readonly<Record<string, number>> = { standard: 1, priority: 1.5, instant: 2.5 };

/**
 * The price that is due, in micros. It is calculated from the default rate card, without the
 * product's code.
 */
function dueMicros(row: Row): number {
  const multiplier = ((multipliers[row.tier] ?? Number.NaN) * Number(row.surge)) / 1e6;
  if (row.state === 'submitted')
    return Math.min(Math.max(20e6 + Number(row.used), 10e6), 200e6) * multiplier;
  if (row.state !== 'cancelled' || !row.begun) return 0;
  return Math.min((row.ran_ms ?? 0) * 500, 200e6) * multiplier;
}

function compareCharge(row: Row, complain: (what: string) => void): void {
  const charged = Number(row.charged ?? 0);
  const due = Math.round(dueMicros(row));
  if (charged !== due)
    complain(`is ${row.state} and was charged ${charged}, but must be charged ${due}`);
  const { hold = 0, charge = 0, release = 0 } = row.movements ?? {};
  if (hold !== Number(row.max) || charge !== charged || release !== hold - charged)
    complain(
      `its ledger has hold ${hold}, charge ${charge}, release ${release}, but its row has quote.max ${row.max}, charge ${charged}`,
    );
}

export async function compareAccount(
  query: Query,
  tenantId: string,
  expected: {
    readonly auditor: Auditor;
    readonly rows: ReadonlyMap<string, Row>;
    readonly grantedMicros: bigint;
  },
): Promise<void> {
  const { auditor, rows, grantedMicros } = expected;
  const [account] = await query<{ balance: string; held: string }>(
    `SELECT balance_micros AS balance, held_micros AS held FROM credit_accounts WHERE tenant_id = $1`,
    [tenantId],
  );
  const charges = [...rows.values()].map(({ charged }) => BigInt(charged ?? 0));
  const due = charges.reduce((left, charge) => left - charge, grantedMicros);
  if (account?.held !== '0' || account.balance !== String(due))
    auditor.complain(
      'account',
      `has the balance ${account?.balance} with ${account?.held} held, but must have ${due} with 0 held`,
    );
}
