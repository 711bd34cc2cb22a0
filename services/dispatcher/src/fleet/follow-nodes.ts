import { nodeLinkCloseCodes } from '@svc/contracts';
import { runPeriodically, type Repeating } from '@svc/runtime';
import { findChangedNodes, findNodeSettings, type NodeSettings } from '@svc/store';
import { inBackground, type Dispatcher } from '../dispatcher.ts';
import { closeLink } from '../links/end-link.ts';
import { applySlots, hasEnded, sendFrame, type NodeLink } from '../links/links.ts';
import { enterFleet } from './fleet-member.ts';
import { giveUpLeftBehind } from './lost-assignments.ts';

/**
 * Applies the settings of nodes to the nodes' links. The settings are stored in Postgres, and a
 * message on the bus reports a change. Polls find a change whose message was lost.
 */

/**
 * The interval of the polls for changed settings. The expiry of a node's secret also takes effect
 * at a poll.
 */
const pollIntervalMs = 2_000;

/**
 * All links of the node to this dispatcher, including those on which no `hello` has arrived yet.
 */
function linksOf({ links }: Dispatcher, nodeId: string): NodeLink[] {
  return [...links.all].filter((link) => link.nodeId === nodeId);
}

/** Applies the node's current settings to the node's links. Throws if Postgres is unreachable. */
export async function followNode(dispatcher: Dispatcher, nodeId: string): Promise<void> {
  const node = await findNodeSettings(dispatcher.store, nodeId);
  if (node === null) return;
  for (const link of linksOf(dispatcher, nodeId)) follow(dispatcher, link, node);
}

function follow(dispatcher: Dispatcher, link: NodeLink, node: NodeSettings): void {
  if (node.disabled) {
    closeLink(dispatcher, link, nodeLinkCloseCodes.violation, 'the node is disabled');
    inBackground(
      dispatcher,
      'end the submissions of a disabled node',
      endLeftBehind(dispatcher, link),
    );
    return;
  }
  if (link.secretVersion !== node.secretVersion) {
    // The previous secret is valid until its expiry time. An older secret is not valid.
    const isPrevious = link.secretVersion === node.secretVersion - 1;
    link.secretExpiresAt = (isPrevious ? node.previousSecretExpiresAt : null) ?? new Date(0);
  }
  followLimits(dispatcher, link, node);
  if (node.draining === link.isDrainOrdered) return;
  link.isDrainOrdered = node.draining;
  if (node.draining) drain(dispatcher, link);
  // The node link does not have a frame that ends a drain, so the dispatcher closes the link. The
  // node connects again, and its runs go on.
  else {
    const reason = 'an operator has ended the drain of the node';
    closeLink(dispatcher, link, nodeLinkCloseCodes.drain, reason);
  }
}

/**
 * Applies the node's limit of slots and its quarantine to the link. The node gets no frame about
 * this change.
 */
function followLimits(
  dispatcher: Dispatcher,
  link: NodeLink,
  { slotsMax, quarantinedUntil }: Pick<NodeSettings, 'slotsMax' | 'quarantinedUntil'>,
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
  inBackground(
    dispatcher,
    'update the limits of a node link in the fleet registry',
    enterFleet(dispatcher, link),
  );
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
  // If the link is not open yet, `onHello` sends `drain` after the `welcome`.
  if (link.state !== 'open') return;
  sendFrame(link, { type: 'drain' });
  inBackground(
    dispatcher,
    'mark a link as draining in the fleet registry',
    enterFleet(dispatcher, link),
  );
}

/**
 * Stores `node_lost` for the submissions that were committed to the node while an operator disabled
 * it. First waits for these commits.
 */
async function endLeftBehind(dispatcher: Dispatcher, link: NodeLink): Promise<void> {
  await link.work.idle();
  await giveUpLeftBehind(dispatcher, link);
}

function closeExpired(dispatcher: Dispatcher, now: Date): void {
  for (const link of dispatcher.links.all) {
    if (hasEnded(link) || link.secretExpiresAt === null || link.secretExpiresAt > now) continue;
    closeLink(
      dispatcher,
      link,
      nodeLinkCloseCodes.violation,
      'the secret of this link is no longer valid',
    );
  }
}

export function followNodes(dispatcher: Dispatcher): Repeating {
  let since: Date | null = null;
  async function poll(): Promise<void> {
    const { now, changed } = await findChangedNodes(dispatcher.store, since);
    since = now;
    const byNode = new Map(changed.map((node) => [node.nodeId, node]));
    if (byNode.size > 0) {
      for (const link of dispatcher.links.all) {
        const node = byNode.get(link.nodeId);
        if (node !== undefined) follow(dispatcher, link, node);
      }
    }
    closeExpired(dispatcher, now);
    endQuarantines(dispatcher, now);
  }
  const { logger } = dispatcher;
  return runPeriodically({ name: 'node changes', intervalMs: pollIntervalMs, run: poll, logger });
}
