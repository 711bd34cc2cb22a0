import { grantedMicros } from './rig.ts';
import { compareAccount, compareRow, readRows } from './rows.ts';
import { compareSlots, compareTaken } from './slots.ts';
import type { World } from './world.ts';

/** Beyond the dispatch deadline and its grace; the start deadline and the lease; the run limit. */
const waitsMs = [6_001, 60_001, 1_800_001];

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
  await compareTaken(world);
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
