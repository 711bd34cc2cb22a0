import { grantedMicros } from './rig.ts';
import { compareAccount, compareRow, readRows, type Row } from './rows.ts';
import { compareSlots, compareTaken } from './slots.ts';
import type { World } from './world.ts';

/**
 * The clock advances by these times at the end: past the dispatch deadline with its grace, past the
 * start deadline and the lease, and past the run limit.
 */
const waitsMs = [6_001, 60_001, 1_800_001];

/**
 * Returns the violations. With `isHealed`, the nodes reconnect before the clock advances and again
 * afterwards. Without it, they reconnect only afterwards.
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
  const rows = new Map<string, Row>();
  for (const tenantId of world.tenantIds) {
    const own = await readRows(world.rig.query, tenantId);
    for (const [wireId, row] of own) rows.set(wireId, row);
    const compared = { auditor, rows: own, grantedMicros };
    await compareAccount(world.rig.query, tenantId, compared);
  }
  for (const { id, wireId, coordinator } of world.posted) {
    if (!rows.has(wireId)) auditor.complain(wireId, 'has no row');
    if (coordinator.isAlive && !world.replied.has(id))
      auditor.complain(wireId, 'its gateway got no reply');
  }
  for (const [wireId, row] of rows) compareRow(auditor, wireId, row);
  await compareSlots(world);
  return auditor.violations;
}

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
