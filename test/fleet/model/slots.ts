import { toWireId } from '@svc/domain';
import { fleetRefreshIntervalMs, keyPrefix } from '@svc/queue';
import type { World } from './world.ts';

/**
 * `compareSlots` advances the clock by this time, so that each slot without a run is free again. It
 * is longer than `stoppedDeadlineMs` and `enterAgainAfterMs`.
 */
const slotsBackMs = 31_000;

/**
 * For each linked node, checks that every slot that is reserved without an expiry belongs to a run
 * of the link. Leaves out submissions that were not offered on this link.
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
        // `freeAtMs` is 0 if the reservation of the slot does not expire.
        const isTaken = freeAtMs === '0' && !link.runs.has(submissionId);
        // For a while, the registry may list slots of an older link, which is correct. So the check
        // leaves out submissions that were not offered on the current link.
        if (isTaken && node.offeredHere.has(wireId))
          auditor.complain(
            wireId,
            `takes a slot of ${link.nodeId} in the registry, but is not among the runs of the node's link`,
          );
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
        `a dispatcher still has ${bySubmission.size} runs, and is still offering ${logic.offerings.size} submissions; both numbers must be 0`,
      );
    if (byNode.size !== all.size)
      auditor.complain(
        'links',
        `a dispatcher has ${all.size} links for ${byNode.size} nodes, but must have one link for each`,
      );
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
