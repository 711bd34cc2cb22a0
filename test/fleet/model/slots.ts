import { toWireId } from '@svc/domain';
import { fleetRefreshIntervalMs, keyPrefix } from '@svc/queue';
import type { World } from './world.ts';

/**
 * After this time every slot is free again. Even the slots of nodes that never sent `stopped` are
 * free, because `stoppedDeadlineMs` has passed. Each link is then due to be entered in the registry
 * again.
 */
const slotsBackMs = 31_000;

/**
 * Checks the registry during a run: if a submission takes a confirmed slot of a node, the node's
 * link must know the submission. Submissions that were offered only on an older link are left out,
 * because the registry may keep their slots until the dispatcher enters the new link again.
 */
export async function compareTaken(world: World): Promise<void> {
  await world.settled();
  const { auditor, rig, prefix } = world;
  for (const { logic } of world.alive) {
    for (const link of logic.links.byNode.values()) {
      const node = world.nodes.find(({ id }) => id === link.nodeId);
      if (link.state !== 'open' || node?.link?.isOpen !== true) continue;
      const key = `${keyPrefix(prefix)}:fleet:tokens:${link.nodeId}`;
      const tokens = Object.entries(await rig.redis.hgetall(key));
      for (const [submissionId, freeAtMs] of tokens) {
        const wireId = toWireId('sub', submissionId);
        const isTaken = freeAtMs === '0' && !link.runs.has(submissionId);
        if (isTaken && node.offeredHere.has(wireId))
          auditor.complain(wireId, `still takes a slot of ${link.nodeId}`);
      }
    }
  }
}

export async function compareSlots(world: World): Promise<void> {
  await world.advance(slotsBackMs);
  await world.advance(fleetRefreshIntervalMs);
  await world.settled();
  const { auditor, alive } = world;
  for (const { logic } of alive) {
    const { bySubmission, byNode, all } = logic.links;
    if (bySubmission.size > 0 || logic.offerings.size > 0)
      auditor.complain(
        'slots',
        `a dispatcher still has ${bySubmission.size} runs and offers ${logic.offerings.size} submissions`,
      );
    if (byNode.size !== all.size)
      auditor.complain('links', `a dispatcher has ${all.size} links for ${byNode.size} nodes`);
    for (const link of all) {
      const left = link.runs.size + link.offers.size + link.work.size;
      if (left > 0)
        auditor.complain(
          'slots',
          `${left} runs, offers or tasks are left at the link of ${link.nodeId}`,
        );
    }
  }
  const slots = world.nodes.reduce((sum, node) => sum + node.slots, 0);
  const capacity = await alive[0]?.logic.fleet.capacity('ats.application');
  if (capacity?.slots !== slots || capacity.free !== slots)
    auditor.complain(
      'slots',
      `${capacity?.free} of ${capacity?.slots} slots are free, but all ${slots} must be`,
    );
}
