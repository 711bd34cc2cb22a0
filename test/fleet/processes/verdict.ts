import { createFleetRegistry } from '@svc/queue';
import { waitUntil } from '@svc/testkit';
import { auditMoney } from '../../support/audit.ts';
import { compareAccount, compareRow, readRows } from '../model/rows.ts';
import type { ProcessWorld } from './world.ts';

type Fleet = ReturnType<typeof createFleetRegistry>;

/**
 * The clock advances by these times at the end: past the dispatch deadline with its grace, past the
 * start deadline and the lease, and past the run limit.
 */
const waitsMs = [6_001, 60_001, 1_800_001];
const endsWithinMs = 30_000;
/**
 * The longest wait until all slots are free. A slot can stay taken without a submission until the
 * dispatcher enters the link in the registry again, about every 30 s.
 */
const slotsBackWithinMs = 45_000;

/**
 * Waits until every submission has ended, then returns the violations. Throws if a submission does
 * not end, a slot stays taken or `bringBack` throws.
 */
export async function passVerdict(
  world: ProcessWorld,
  expected: { readonly fleet: Fleet; readonly agentSlots: number; readonly grantedMicros: bigint },
): Promise<string[]> {
  const { stack, tenantId, auditor, agents } = world;
  await world.answered();
  await world.startDispatchers();
  await bringBack(world);
  for (const ms of waitsMs) await stack.advanceClock(ms);
  await waitUntil(async () => (await countUnended(world)) === 0, {
    what: 'every submission to end',
    timeoutMs: endsWithinMs,
  });
  await bringBack(world);
  agents.report(auditor);
  const rows = await readRows(stack.query, tenantId);
  for (const [wireId, row] of rows) compareRow(auditor, wireId, row);
  const { fleet, agentSlots, grantedMicros } = expected;
  await compareAccount(stack.query, tenantId, { auditor, rows, grantedMicros });
  auditor.violations.push(...(await auditMoney(stack.query)));
  const slots = agentSlots + world.nodes.reduce((sum, node) => sum + node.slots, 0);
  await freeSlots(fleet, slots);
  return auditor.violations;
}

async function countUnended({ stack, tenantId }: ProcessWorld): Promise<number> {
  const rows = await stack.query(
    `SELECT FROM submissions WHERE tenant_id = $1
      AND state IN ('pending', 'dispatched', 'running', 'settling')`,
    [tenantId],
  );
  return rows.length;
}

/** Links each node again. Throws if a node gets no `welcome`, or no `ack` for an outcome. */
async function bringBack(world: ProcessWorld): Promise<void> {
  for (const [index, node] of world.nodes.entries()) {
    node.isDraining = false;
    node.link?.cut();
    world.alive[index % world.alive.length]?.connect(node);
  }
  const isHeard = (): boolean =>
    world.nodes.every(
      ({ isWelcome, stopping, journal }) =>
        isWelcome &&
        stopping.size === 0 &&
        [...journal.values()].every(({ phase }) => phase !== 'ended'),
    );
  await waitUntil(() => {
    for (const node of world.nodes) {
      for (const submissionId of node.stopping) node.sayStopped(submissionId);
    }
    return isHeard();
  });
}

export async function freeSlots(fleet: Fleet, slots: number): Promise<void> {
  let last = '';
  await waitUntil(
    async () => {
      const capacity = await fleet.capacity('ats.application');
      last = `${capacity.free} of ${capacity.slots}`;
      return capacity.slots === slots && capacity.free === slots;
    },
    { what: `${slots} free slots`, timeoutMs: slotsBackWithinMs },
  ).catch((error: unknown) => {
    throw new Error(`slots leak: ${last} are free, but all ${slots} must be`, { cause: error });
  });
}
