import { findJobType, nodeLinkCloseCodes, type FrameFromNodeOf } from '@svc/contracts';
import { fromWireId, heartbeatSeconds, toWireId } from '@svc/domain';
import { assignmentsOf, noteHello, type Assignment } from '@svc/store';

import type { Dispatcher } from '../dispatcher.ts';
import { closeLink } from '../links/end-link.ts';
import { enterFleet } from '../fleet/fleet-member.ts';
import { hasEnded, sendFrame, type NodeLink } from '../links/links.ts';
import { giveUpUnnamed } from '../fleet/lost-assignments.ts';
import { takeSlot } from '../fleet/slots.ts';

export interface HelloComparison {
  /** Given to the node, and it does not know of them: they are lost (`node_lost`, at once). */
  readonly lost: readonly string[];
  /** Still the node's to run. */
  readonly live: readonly string[];
  /** Of `running`, in the node's own words: they have ended, or were never this node's. */
  readonly stop: readonly string[];
}

/**
 * Compares what a node says it has in hand with what it was given. One whose outcome is stored has
 * ended, even before it is settled; a node that has not seen the acknowledgement repeats it.
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

/** Only what Postgres has assigned to the node takes a slot, whatever else it names. */
function takeSlots(dispatcher: Dispatcher, link: NodeLink, { live }: HelloComparison): void {
  for (const submissionId of live) takeSlot(dispatcher, link, submissionId).isAssigned = true;
}

function closeSuperseded(dispatcher: Dispatcher, link: NodeLink): void {
  closeLink(dispatcher, link, nodeLinkCloseCodes.newerLink, 'a newer link of this node');
}

/**
 * A newer link ends an older one of the same node, whichever dispatcher holds it (4001). Returns
 * false if this link is the older one, which may say its hello later than the newer one.
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
    // What the node runs must go on without Redis; it is entered with the next refresh.
    link.logger.warn({ err: error }, 'could not enter a link into the fleet');
  }
}

/**
 * The first frame of a link: what the node lost is given up at once, what it no longer need run is
 * said in the `welcome`, and from then on it is offered work. If the node has a newer link by now,
 * nothing of this hello counts and the link is closed (4001). Throws when Postgres cannot be
 * reached.
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
    ? await noteHello(store, { nodeId, agentVersion, linkEpoch })
    : null;
  if (hasEnded(link)) return;
  if (greeted === null) {
    closeSuperseded(dispatcher, link);
    return;
  }
  link.quarantinedUntil = greeted.quarantinedUntil;
  takeSlots(dispatcher, link, compared);
  await enter(dispatcher, link);
  if (hasEnded(link)) return;
  link.state = 'open';
  sendFrame(link, {
    type: 'welcome',
    nodeId: toWireId('nod', nodeId),
    heartbeatSeconds,
    stop: [...compared.stop],
  });
  if (link.isDrainOrdered) sendFrame(link, { type: 'drain' });
  link.logger.info({ slots: link.slots, running: compared.live.length }, 'node linked');
}
