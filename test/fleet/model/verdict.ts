import { fleetRefreshIntervalMs } from '@svc/queue';
import type { Posted, World } from './world.ts';
import { grantedMicros } from './rig.ts';

/** Beyond the dispatch deadline and its grace; the start deadline and the lease; the run limit. */
const waitsMs = [6_001, 60_001, 1_800_001];
/** Until the slots of nodes that never said `stopped` are free, and all links are entered anew. */
const slotsBackMs = 31_000;

/**
 * Lets time do what it must: every submission ends, every slot comes back, and what the rows say
 * agrees with what the auditor saw. `isHealed`: the nodes come back before the time moves on, else
 * only after.
 */
export async function passVerdict(
  world: World,
  { isHealed }: { readonly isHealed: boolean },
): Promise<string[]> {
  await world.settled();
  for (const { mortal } of world.alive) mortal.spare();
  if (world.alive.length === 0) await world.startDispatcher();
  if (isHealed) await bringBack(world);
  for (const ms of waitsMs) {
    await world.advance(ms);
    await world.sweep();
    await world.settled();
  }
  await world.settle();
  await bringBack(world);
  const { auditor } = world;
  const rows = await readRows(world);
  for (const posted of world.posted) compare(world, posted, rows.get(posted.id));
  await compareMoney(world, [...rows.values()]);
  await compareSlots(world);
  return auditor.violations;
}

/** Every node is linked, has said what it had to say, and has heard what there was to hear. */
async function bringBack(world: World): Promise<void> {
  for (const [index, node] of world.nodes.entries()) {
    node.isDraining = false;
    node.link?.cut();
    world.alive[index % world.alive.length]?.connect(node);
  }
  await world.settled();
  for (const node of world.nodes) {
    for (const submissionId of node.stopping) node.sayStopped(submissionId);
  }
  await world.settled();
}

interface Row {
  readonly [column: string]: unknown;
  readonly id: string;
  readonly state: string;
  readonly node_id: string | null;
  readonly tier: string;
  readonly outcome_kind: string | null;
  readonly outcome_by: string | null;
  readonly late_outcome_status: string | null;
  readonly begun: boolean;
  /** Whether it was dispatched before its deadline. */
  readonly in_time: boolean | null;
  readonly ran_ms: number | null;
  readonly actions: number | null;
  readonly max: string;
  readonly charged: string | null;
  readonly movements: Readonly<Record<string, number>> | null;
  readonly events: readonly string[] | null;
}

async function readRows({ rig, tenantId }: World): Promise<Map<string, Row>> {
  const rows = await rig.query<Row>(
    `SELECT id, state, node_id, tier, outcome_kind, outcome_by, late_outcome_status,
      started_at IS NOT NULL AS begun, dispatched_at < dispatch_deadline_at AS in_time,
      (extract(epoch FROM finished_at - started_at) * 1000)::float8 AS ran_ms,
      usage_actions::float8 AS actions, quote_max_micros AS max, charged_micros AS charged,
      (SELECT jsonb_object_agg(type, amount) FROM (SELECT type, sum(amount_micros) AS amount
        FROM ledger_entries e WHERE e.submission_id = s.id GROUP BY type) m) AS movements,
      (SELECT array_agg(type) FROM events e WHERE e.submission_id = s.id) AS events
    FROM submissions s WHERE tenant_id = $1`,
    [tenantId],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

const ended = new Set(['submitted', 'failed', 'cancelled', 'rejected']);
const multipliers: Readonly<Record<string, number>> = { standard: 1, priority: 1.5, instant: 2.5 };

function compare(world: World, posted: Posted, row: Row | undefined): void {
  const { auditor, replied } = world;
  const { wireId, coordinator } = posted;
  const seen = auditor.of(wireId);
  const complain = (what: string): void => auditor.complain(wireId, what);
  if (row === undefined) return complain('has no row');
  if (!ended.has(row.state)) return complain(`never ended: ${row.state}`);
  if (coordinator.isAlive && !replied.has(posted.id)) complain('its gateway was never told');
  if (row.in_time === false) complain('was dispatched after its deadline');
  for (const nodeId of [...seen.assignedTo, ...seen.toldToBegin, ...seen.actedBy]) {
    if (nodeId !== row.node_id) complain(`${nodeId} had it, by its row ${row.node_id}`);
  }
  if (seen.toldToBegin.size > 0 && !row.begun) complain('a node may begin, by its row it may not');
  compareOutcome(posted, row, world);
  compareCharge(row, complain);
}

/** What a node was acknowledged is kept, and nothing is made up. */
function compareOutcome({ wireId }: Posted, row: Row, { auditor }: World): void {
  const { outcomes, acknowledged, actionsReported } = auditor.of(wireId);
  const complain = (what: string): void => auditor.complain(wireId, what);
  const own = outcomes.filter(({ nodeId }) => nodeId === row.node_id).map(({ frame }) => frame);
  const said = new Set<string>(own.map(({ type }) => type));
  if (row.outcome_by === 'node' && !said.has(row.outcome_kind ?? ''))
    complain(`its node never said ${row.outcome_kind}`);
  if (row.state === 'submitted' && !said.has('completed')) complain('submitted, and not completed');
  const isKept = row.outcome_by === 'node' || row.late_outcome_status !== null;
  const wasStored = own.length > 0 && row.node_id !== null && acknowledged.has(row.node_id);
  if (wasStored && !isKept) complain('an acknowledged outcome is not kept');
  const isSeen = row.actions === null || row.actions === 0 || actionsReported.has(row.actions);
  if (!isSeen) complain(`${row.actions} actions were never reported`);
  const events = (row.events ?? []).filter((type) => type !== 'submission.late_outcome');
  if (events.length !== (row.state === 'rejected' ? 0 : 1)) complain(`told of: ${events.join()}`);
}

/** The default rate card, by an arithmetic of its own, in micro-credits. */
function dueMicros(row: Row): number {
  const multiplier = multipliers[row.tier] ?? Number.NaN;
  if (row.state === 'submitted')
    return Math.min(Math.max(20 + 0.5 * (row.actions ?? 0), 10), 200) * multiplier * 1e6;
  if (row.state !== 'cancelled' || !row.begun) return 0;
  return Math.min((row.ran_ms ?? 0) * 500, 200e6) * multiplier;
}

function compareCharge(row: Row, complain: (what: string) => void): void {
  const charged = Number(row.charged ?? 0);
  const due = Math.round(dueMicros(row));
  if (charged !== due) complain(`${row.state}, charged ${charged}, due ${due}`);
  const { hold = 0, charge = 0, release = 0 } = row.movements ?? {};
  if (hold !== Number(row.max) || charge !== charged || release !== hold - charged)
    complain(`held ${hold}, charged ${charge}, released ${release} of ${row.max}`);
}

async function compareMoney(
  { rig, tenantId, auditor }: World,
  rows: readonly Row[],
): Promise<void> {
  const [account] = await rig.query<{ balance: string; held: string }>(
    `SELECT balance_micros AS balance, held_micros AS held FROM credit_accounts WHERE tenant_id = $1`,
    [tenantId],
  );
  const charged = rows.reduce((sum, row) => sum + BigInt(row.charged ?? 0), 0n);
  const due = grantedMicros - charged;
  if (account?.held !== '0' || account.balance !== String(due))
    auditor.complain('account', `${account?.balance} and ${account?.held} held, must be ${due}`);
}

/** With nothing in flight, every slot is free: with its link, and in the registry. */
async function compareSlots(world: World): Promise<void> {
  await world.advance(slotsBackMs);
  await world.advance(fleetRefreshIntervalMs);
  await world.settled();
  const { auditor, alive } = world;
  for (const { logic } of alive) {
    const { bySubmission, byNode, all } = logic.links;
    if (bySubmission.size > 0 || logic.offerings.size > 0)
      auditor.complain(
        'slots',
        `${bySubmission.size} runs, ${logic.offerings.size} offerings left`,
      );
    if (byNode.size !== all.size) auditor.complain('links', `${all.size} of ${byNode.size} nodes`);
    for (const link of all) {
      const left = link.runs.size + link.offers.size + link.work.size;
      if (left > 0) auditor.complain('slots', `${left} left with the link of ${link.nodeId}`);
    }
  }
  const slots = world.nodes.reduce((sum, node) => sum + node.slots, 0);
  const capacity = await alive[0]?.logic.fleet.capacity('ats.application');
  if (capacity?.slots !== slots || capacity.free !== slots)
    auditor.complain('slots', `${capacity?.free} of ${capacity?.slots} free, must be ${slots}`);
}
