import { findJobType, nodeLinkCloseCodes, type FrameFromNodeOf } from '@svc/contracts';
import { fromWireId, heartbeatSeconds, isPublicAddress, toWireId } from '@svc/domain';
import { assignmentsOf, recordHello, recoveryInForce, type Assignment } from '@svc/store';
import { inBackground, type Dispatcher } from '../dispatcher.ts';
import { enterFleet } from '../fleet/fleet-member.ts';
import { giveUpUnnamed } from '../fleet/lost-assignments.ts';
import { takeSlot } from '../fleet/slots.ts';
import { closeLink } from '../links/end-link.ts';
import { hasEnded, sendFrame, type NodeLink } from '../links/links.ts';
import { stopEnded } from '../runs/ended-runs.ts';

export interface HelloComparison {
  /** The node's submissions that its `hello` does not name and that have no outcome. */
  readonly lost: readonly string[];
  readonly live: readonly string[];
  /**
   * The wire ids that the `hello` names in `running`, but whose submissions have ended or were
   * never assigned to this node.
   */
  readonly stop: readonly string[];
}

/**
 * Compares the submissions that a `hello` names with the assignments of the node. A submission with
 * a stored outcome counts as ended, even before settlement.
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

function takeSlots(dispatcher: Dispatcher, link: NodeLink, { live }: HelloComparison): void {
  for (const submissionId of live) takeSlot(dispatcher, link, submissionId).isAssigned = true;
}

function closeSuperseded(dispatcher: Dispatcher, link: NodeLink): void {
  closeLink(dispatcher, link, nodeLinkCloseCodes.newerLink, 'the node has a newer link');
}

/**
 * Makes this link the node's link in this process, and closes an older one (4001). If a newer link
 * is there already, closes this link and returns false.
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
    // The node's runs must go on without Redis. If the registry lacks the link, a later refresh
    // adds it.
    link.logger.warn(
      { err: error },
      'could not add a node link to the fleet registry, or could not notify the other dispatchers of it',
    );
  }
}

/** Null if the address is unknown or not public, such as one of a proxy that forwards none. */
function observedAddressOf({ clientAddress = '' }: NodeLink): string | null {
  return isPublicAddress(clientAddress) ? clientAddress : null;
}

/**
 * Handles the first frame of a link, and sends `welcome` (CONTRACT 7). If the node has a newer
 * link, closes this link instead. Throws if Postgres is unreachable.
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
  link.isRecovering = incarnation !== null;
  if (hasEnded(link)) return;
  takeSlots(dispatcher, link, compared);
  await enter(dispatcher, link);
  if (hasEnded(link)) return;
  link.state = 'open';
  sendFrame(link, {
    type: 'welcome',
    nodeId: toWireId('nod', nodeId),
    heartbeatSeconds,
    observedAddress: observedAddressOf(link),
    // During a recovery the restored database may not know the latest work of the node. The
    // `welcome` therefore names no submission that the node must stop.
    ...(incarnation === null
      ? { stop: [...compared.stop] }
      : { stop: [], recovery: { incarnation } }),
  });
  if (link.isDrainOrdered) sendFrame(link, { type: 'drain' });
  link.logger.info({ slots: link.slots, running: compared.live.length }, 'node linked');
  // A submission may have ended between `assignmentsOf` and `takeSlots`. Its `stop_submission` then
  // found no run.
  const stopped = stopEnded(dispatcher, compared.live);
  inBackground(dispatcher, 'stop runs that ended during a hello', stopped);
}
