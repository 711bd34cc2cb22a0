import { fleetRefreshIntervalMs } from '@svc/queue';
import { grantedMicros } from './rig.ts';
import { compareAccount, compareRow, readRows } from './rows.ts';
import type { World } from './world.ts';

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
  const rows = await readRows(world.rig.query, world.tenantId);
  for (const { id, wireId, coordinator } of world.posted) {
    if (!rows.has(wireId)) auditor.complain(wireId, 'has no row');
    if (coordinator.isAlive && !world.replied.has(id)) auditor.complain(wireId, 'nobody was told');
  }
  for (const [wireId, row] of rows) compareRow(auditor, wireId, row);
  await compareAccount(world.rig.query, world.tenantId, { auditor, rows, grantedMicros });
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
