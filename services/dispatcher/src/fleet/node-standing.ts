import { nodeLinkCloseCodes } from '@svc/contracts';
import { every, type Repeating } from '@svc/runtime';
import { findChangedNodes, findNodeStanding, type NodeStanding } from '@svc/store';

import { inBackground, type Dispatcher } from '../dispatcher.ts';
import { closeLink } from '../links/end-link.ts';
import { enterFleet } from './fleet-member.ts';
import { applySlots, hasEnded, sendFrame, type NodeLink } from '../links/links.ts';
import { giveUpLeftBehind } from './lost-assignments.ts';

/**
 * What operators decide about nodes, as their links follow it (CONTRACT 9: drain, disable,
 * enable, update, rotate-secret), and the quarantine of those that do not finish their jobs. A message on the bus says which node to look at; each dispatcher also
 * looks for itself, so that a lost message only delays. Postgres says what was decided.
 */

/** A secret that is revoked, and a change whose message was lost, take effect after this at most. */
const lookIntervalMs = 2_000;

/** Every link of the node here, also one that has not said hello yet. */
function linksOf({ links }: Dispatcher, nodeId: string): NodeLink[] {
  return [...links.all].filter((link) => link.nodeId === nodeId);
}

/** Looks at a node that was changed. Throws when Postgres cannot be reached. */
export async function followNode(dispatcher: Dispatcher, nodeId: string): Promise<void> {
  const standing = await findNodeStanding(dispatcher.store, nodeId);
  if (standing === null) return;
  for (const link of linksOf(dispatcher, nodeId)) follow(dispatcher, link, standing);
}

function follow(dispatcher: Dispatcher, link: NodeLink, standing: NodeStanding): void {
  if (standing.disabled) {
    closeLink(dispatcher, link, nodeLinkCloseCodes.violation, 'the node is disabled');
    inBackground(dispatcher, 'end what a disabled node had', endLeftBehind(dispatcher, link));
    return;
  }
  if (link.secretVersion !== standing.secretVersion) {
    // One before the last is over at once, the last one when its time is.
    const isPrevious = link.secretVersion === standing.secretVersion - 1;
    link.secretExpiresAt = (isPrevious ? standing.previousSecretExpiresAt : null) ?? new Date(0);
  }
  followLimits(dispatcher, link, standing);
  if (standing.draining === link.isDrainOrdered) return;
  link.isDrainOrdered = standing.draining;
  if (standing.draining) drain(dispatcher, link);
  // There is no frame that takes `drain` back: the node connects again, with all it has in hand.
  else closeLink(dispatcher, link, nodeLinkCloseCodes.drain, 'the node is enabled again');
}

/** Slots and quarantine. The node is not told of either: it is offered less, or nothing. */
function followLimits(
  dispatcher: Dispatcher,
  link: NodeLink,
  { slotsMax, quarantinedUntil }: Pick<NodeStanding, 'slotsMax' | 'quarantinedUntil'>,
): void {
  const isKnown = link.quarantinedUntil?.getTime() === quarantinedUntil?.getTime();
  if (link.slotsMax === slotsMax && isKnown) return;
  if (quarantinedUntil !== null && !isKnown) {
    link.logger.warn({ quarantinedUntil }, 'the node is in quarantine');
  }
  link.quarantinedUntil = quarantinedUntil;
  link.slotsMax = slotsMax;
  applySlots(link);
  link.rate.allowFor({ slots: link.slots, running: 0 });
  if (link.state !== 'open') return;
  inBackground(dispatcher, 'enter a link with other limits', enterFleet(dispatcher, link));
}

function endQuarantines(dispatcher: Dispatcher, now: Date): void {
  for (const link of dispatcher.links.all) {
    const { quarantinedUntil, slotsMax } = link;
    if (quarantinedUntil === null || quarantinedUntil > now) continue;
    followLimits(dispatcher, link, { slotsMax, quarantinedUntil: null });
  }
}

function drain(dispatcher: Dispatcher, link: NodeLink): void {
  link.draining = true;
  // On a link that is being greeted it follows the welcome.
  if (link.state !== 'open') return;
  sendFrame(link, { type: 'drain' });
  inBackground(dispatcher, 'enter a draining link', enterFleet(dispatcher, link));
}

/** What was being committed while the node was disabled, after what the disabling itself has ended. */
async function endLeftBehind(dispatcher: Dispatcher, link: NodeLink): Promise<void> {
  await link.work.idle();
  await giveUpLeftBehind(dispatcher, link);
}

function closeExpired(dispatcher: Dispatcher, now: Date): void {
  for (const link of dispatcher.links.all) {
    if (hasEnded(link) || link.secretExpiresAt === null || link.secretExpiresAt > now) continue;
    closeLink(dispatcher, link, nodeLinkCloseCodes.violation, 'the secret of this link is revoked');
  }
}

/** Goes on looking for what operators have changed. */
export function followNodes(dispatcher: Dispatcher): Repeating {
  let since: Date | null = null;
  async function look(): Promise<void> {
    const { now, changed } = await findChangedNodes(dispatcher.store, since);
    since = now;
    const byNode = new Map(changed.map((standing) => [standing.nodeId, standing]));
    if (byNode.size > 0) {
      for (const link of dispatcher.links.all) {
        const standing = byNode.get(link.nodeId);
        if (standing !== undefined) follow(dispatcher, link, standing);
      }
    }
    closeExpired(dispatcher, now);
    endQuarantines(dispatcher, now);
  }
  const { logger } = dispatcher;
  return every({ name: 'node changes', intervalMs: lookIntervalMs, run: look, logger });
}
