import { findJobType, nodeLinkCloseCodes, type FrameFromNodeOf } from '@svc/contracts';
import { fromWireId, heartbeatSeconds, toWireId } from '@svc/domain';
import { assignmentsOf, recordHello, recoveryInForce, type Assignment } from '@svc/store';
import type { Dispatcher } from '../dispatcher.ts';
import { enterFleet } from '../fleet/fleet-member.ts';
import { giveUpUnnamed } from '../fleet/lost-assignments.ts';
import { takeSlot } from '../fleet/slots.ts';
import { closeLink } from '../links/end-link.ts';
import { hasEnded, sendFrame, type NodeLink } from '../links/links.ts';

export interface HelloComparison {
  /**
   * Submissions that are assigned to the node, but that its `hello` does not name. They end at once
   * (`node_lost`).
   */
  readonly lost: readonly string[];
  /**
   * Submissions that are assigned to the node and that its `hello` names. The node goes on with
   * them.
   */
  readonly live: readonly string[];
  /** The wire ids in `running` whose submissions have ended or were never assigned to this node. */
  readonly stop: readonly string[];
}

/**
 * Compares the submissions that a node names with those assigned to it. A submission with a stored
 * outcome counts as ended, even before settlement.
 */
export function compareHello(
  running: readonly string[],
  assignments: readonly Assignment[],
): HelloComparison {
  const given = new Set(
    assignments.filter(({ state }) => state !== 'settling').map((one) => one.submissionId),
  );
  const live = new Set<string>();
  const stop: string[] = [];
  for (const wireId of running) {
    const submissionId = fromWireId('sub', wireId);
    if (submissionId !== undefined && given.has(submissionId)) live.add(submissionId);
    else stop.push(wireId);
  }
  return { lost: [...given].filter((id) => !live.has(id)), live: [...live], stop };
}

/** Takes slots only for submissions that Postgres has assigned to the node. */
function takeSlots(dispatcher: Dispatcher, link: NodeLink, { live }: HelloComparison): void {
  for (const submissionId of live) takeSlot(dispatcher, link, submissionId).isAssigned = true;
}

function closeSuperseded(dispatcher: Dispatcher, link: NodeLink): void {
  closeLink(dispatcher, link, nodeLinkCloseCodes.newerLink, 'the node has a newer link');
}

/**
 * Makes this link the link of its node in this dispatcher, closes an older one (4001), and returns
 * true. If this link is the older one, closes it and returns false. This happens if its `hello`
 * arrives after the `hello` of the newer link.
 */
function takeOver(dispatcher: Dispatcher, link: NodeLink): boolean {
  const { byNode } = dispatcher.links;
  const other = byNode.get(link.nodeId);
  if (other !== undefined && other.linkEpoch > link.linkEpoch) {
    closeSuperseded(dispatcher, link);
    return false;
  }
  byNode.set(link.nodeId, link);
  if (other !== undefined) closeSuperseded(dispatcher, other);
  return true;
}

async function enter(dispatcher: Dispatcher, link: NodeLink): Promise<void> {
  const { nodeId, linkId } = link;
  try {
    await enterFleet(dispatcher, link);
    const { epoch, linkEpoch } = link;
    await dispatcher.bus.broadcast({ kind: 'node_linked', nodeId, linkId, epoch, linkEpoch });
  } catch (error) {
    // The node's runs must go on without Redis. The next refresh enters the link.
    link.logger.warn({ err: error }, 'could not enter a link into the fleet');
  }
}

/**
 * Handles the first frame of a link. Ends the submissions that the node has lost, allows offers to
 * the node, and sends the `welcome`. The `welcome` names the submissions that the node must stop.
 * If the node has a newer link, sends no `welcome` and closes this one (4001). Throws if Postgres
 * is unreachable.
 */
export async function onHello(
  dispatcher: Dispatcher,
  link: NodeLink,
  frame: FrameFromNodeOf<'hello'>,
): Promise<void> {
  if (!takeOver(dispatcher, link)) return;
  link.instanceId = frame.instanceId;
  link.jobTypes = [...new Set(frame.jobTypes)].filter((name) => findJobType(name) !== undefined);
  const { store } = dispatcher;
  const { nodeId, linkEpoch } = link;
  const compared = compareHello(frame.running, await assignmentsOf(store, nodeId));
  if (hasEnded(link)) return;
  const { agentVersion } = frame;
  const greeted = (await giveUpUnnamed(dispatcher, link, compared.lost))
    ? await recordHello(store, { nodeId, agentVersion, linkEpoch })
    : null;
  if (hasEnded(link)) return;
  if (greeted === null) {
    closeSuperseded(dispatcher, link);
    return;
  }
  link.quarantinedUntil = greeted.quarantinedUntil;
  const incarnation = await recoveryInForce(store);
  if (hasEnded(link)) return;
  takeSlots(dispatcher, link, compared);
  await enter(dispatcher, link);
  if (hasEnded(link)) return;
  link.state = 'open';
  sendFrame(link, {
    type: 'welcome',
    nodeId: toWireId('nod', nodeId),
    heartbeatSeconds,
    // In a recovery the node's journal decides, not the restored database. The node then stops
    // nothing.
    ...(incarnation === null
      ? { stop: [...compared.stop] }
      : { stop: [], recovery: { incarnation } }),
  });
  if (link.isDrainOrdered) sendFrame(link, { type: 'drain' });
  link.logger.info({ slots: link.slots, running: compared.live.length }, 'node linked');
}
