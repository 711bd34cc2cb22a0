import {
  assignFrameText,
  type FrameFromNodeOf,
  type MakeOffer,
  type OfferResult,
  type RevokeOffer,
} from '@svc/contracts';
import { secondOfferAfterMs, toWireId, type OfferRecord } from '@svc/domain';
import { failpoint } from '@svc/runtime';
import { commitDispatched, type DispatchCommit } from '@svc/store';

import { inBackground, type Dispatcher } from '../dispatcher.ts';
import {
  hasEnded,
  sendFrame,
  takesOffers,
  type HeldOffer,
  type HeldRun,
  type NodeLink,
} from '../links/links.ts';
import { giveUpUnsent } from '../fleet/lost-assignments.ts';
import { reportOffer } from '../links/report-offer.ts';
import { confirmSlotLater, freeSlot, takeSlot } from '../fleet/slots.ts';

/**
 * Offers as the dispatcher sees them that holds the node's link, whoever coordinates the
 * submission (CONTRACT 7). An offer ends once: by an answer, by its time, by the
 * coordinator, or with the link.
 */

/** Makes the offer; where the node cannot be asked, says so. */
export function makeOffer(dispatcher: Dispatcher, message: MakeOffer): void {
  const link = dispatcher.links.byNode.get(message.nodeId);
  if (link === undefined || link.linkId !== message.linkId) {
    giveBack(dispatcher, message, 'lost');
    return;
  }
  link.work.run(message.offerId, async () => {
    // An offer may come before the hello it was made for has been answered.
    await link.greeted;
    if (link.state === 'ended') giveBack(dispatcher, message, 'lost');
    else if (!takesOffers(link)) giveBack(dispatcher, message, 'declined', 'draining');
    else sendOffer(dispatcher, link, message);
  });
}

function giveBack(
  dispatcher: Dispatcher,
  message: MakeOffer,
  result: OfferResult,
  reason?: string,
): void {
  const released = dispatcher.fleet.release(message.nodeId, message.submissionId);
  inBackground(dispatcher, 'release a reservation', released);
  reportOffer(dispatcher, message, result, reason);
}

function sendOffer(dispatcher: Dispatcher, link: NodeLink, message: MakeOffer): void {
  const { offerId, jobType, tier, targetHost, maxNodeSeconds, expiresInMs, requestId } = message;
  const timer = dispatcher.timers.after(expiresInMs, () => {
    if (takeOffer(link, offerId) === undefined) return;
    sendFrame(link, { type: 'revoke', offerId });
    const released = dispatcher.fleet.release(message.nodeId, message.submissionId, {
      silent: true,
    });
    inBackground(dispatcher, 'release a reservation', released);
    reportOffer(dispatcher, message, 'expired');
  });
  link.offers.set(offerId, { message, timer, sentAtMs: dispatcher.clock.monotonicMs() });
  sendFrame(link, {
    type: 'offer',
    offerId,
    submissionId: toWireId('sub', message.submissionId),
    jobType,
    tier,
    targetHost,
    maxNodeSeconds,
    expiresInMs,
    requestId,
    ...(message.sandboxBehaviour === undefined
      ? {}
      : { sandboxBehaviour: message.sandboxBehaviour }),
  });
}

/** Removes an open offer; undefined where it has ended already. */
function takeOffer(link: NodeLink, offerId: string): HeldOffer | undefined {
  const offer = link.offers.get(offerId);
  if (offer === undefined) return undefined;
  offer.timer.clear();
  link.offers.delete(offerId);
  return offer;
}

/**
 * The coordinator wants the offer no more. One that the node has accepted is past this: the commit
 * decides.
 */
export function revokeOffer(dispatcher: Dispatcher, { nodeId, offerId }: RevokeOffer): void {
  const link = dispatcher.links.byNode.get(nodeId);
  const offer = link === undefined ? undefined : takeOffer(link, offerId);
  if (link === undefined || offer === undefined) return;
  sendFrame(link, { type: 'revoke', offerId });
  // One that had the time to answer, and made the tenant wait for a second node, is silent too.
  const silent = dispatcher.clock.monotonicMs() - offer.sentAtMs >= secondOfferAfterMs;
  const released = dispatcher.fleet.release(nodeId, offer.message.submissionId, { silent });
  inBackground(dispatcher, 'release a reservation', released);
}

export function onDecline(
  dispatcher: Dispatcher,
  link: NodeLink,
  { offerId, reason }: FrameFromNodeOf<'decline'>,
): void {
  const offer = takeOffer(link, offerId);
  if (offer !== undefined) giveBack(dispatcher, offer.message, 'declined', reason);
}

/** With its accept, for the commit that ends the offering. */
function recordsWith(dispatcher: Dispatcher, { message, sentAtMs }: HeldOffer): OfferRecord[] {
  const { before, offerId, nodeId, offeredAt } = message;
  const askedMs = dispatcher.clock.monotonicMs() - sentAtMs;
  const answeredAt = new Date(Date.parse(offeredAt) + Math.round(askedMs)).toISOString();
  return [...before, { offerId, nodeId, answer: 'accepted', offeredAt, answeredAt }];
}

/**
 * Gives the submission to the node: the commit of `dispatched` comes first, then the payload. An
 * accept that is too late, or whose submission was no longer pending, is answered `revoke`.
 */
export async function onAccept(
  dispatcher: Dispatcher,
  link: NodeLink,
  offerId: string,
): Promise<void> {
  const offer = takeOffer(link, offerId);
  if (offer === undefined) {
    sendFrame(link, { type: 'revoke', offerId });
    return;
  }
  const { message } = offer;
  const { submissionId, nodeId } = message;
  const run = takeSlot(dispatcher, link, submissionId);
  let commit: DispatchCommit;
  try {
    const offers = recordsWith(dispatcher, offer);
    commit = await commitDispatched(dispatcher.store, { submissionId, nodeId, offers });
  } catch (error) {
    // Whether it was committed is not known. If it was, nobody else gets it, and it ends as
    // `not_started`; this node was not told that it has it.
    refuse(dispatcher, link, message, 'lost');
    throw error;
  }
  if (commit.kind === 'not_pending') {
    refuse(dispatcher, link, message, 'gone');
    return;
  }
  const { requestId } = commit;
  link.logger.info({ requestId, submissionId: toWireId('sub', submissionId) }, 'dispatched');
  run.requestId = requestId;
  await failpoint('dispatched.committed');
  confirmSlotLater(dispatcher, link, run);
  assign(dispatcher, link, { message, run, payloadText: commit.payloadText });
  reportOffer(dispatcher, message, 'dispatched');
  // The offer was void with the link, and the node's next hello may have been answered before the
  // commit: nobody else would find out before the minute for `start` is over.
  if (!hasEnded(link) || run.isAssigned) return;
  freeSlot(dispatcher, link, submissionId);
  await giveUpUnsent(dispatcher, link, submissionId);
}

function assign(
  dispatcher: Dispatcher,
  link: NodeLink,
  assignment: { message: MakeOffer; run: HeldRun; payloadText: string },
): void {
  const { message, run, payloadText } = assignment;
  // Cancelled while it was being committed: the node need not see the payload at all.
  if (run.isStopping) {
    sendFrame(link, { type: 'revoke', offerId: message.offerId });
    freeSlot(dispatcher, link, message.submissionId);
    return;
  }
  if (hasEnded(link)) return;
  run.isAssigned = true;
  const { offerId } = message;
  const submissionId = toWireId('sub', message.submissionId);
  link.transport.send(assignFrameText({ offerId, submissionId, payloadText }));
}

function refuse(
  dispatcher: Dispatcher,
  link: NodeLink,
  message: MakeOffer,
  result: OfferResult,
): void {
  sendFrame(link, { type: 'revoke', offerId: message.offerId });
  freeSlot(dispatcher, link, message.submissionId);
  reportOffer(dispatcher, message, result);
}
