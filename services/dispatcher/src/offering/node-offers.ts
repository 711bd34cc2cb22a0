import {
  assignFrameText,
  type FrameFromNodeOf,
  type MakeOffer,
  type OfferResult,
  type RevokeOffer,
} from '@svc/contracts';
import { secondOfferAfterMs, toWireId, type OfferAnswer, type OfferRecord } from '@svc/domain';
import { failpoint } from '@svc/runtime';
import { commitDispatched, type DispatchCommit } from '@svc/store';
import { traced } from '@svc/tracing';
import { inBackground, type Dispatcher } from '../dispatcher.ts';
import { giveUpUnsent } from '../fleet/lost-assignments.ts';
import { confirmSlotLater, freeSlot, takeSlot } from '../fleet/slots.ts';
import {
  hasEnded,
  sendFrame,
  takesOffers,
  type UnansweredOffer,
  type LinkRun,
  type NodeLink,
} from '../links/links.ts';
import { reportOfferResult } from '../links/report-offer-result.ts';

/**
 * Handles offers in the dispatcher of the node's link (CONTRACT 7). An offer ends once: by an
 * answer, its expiry, the end of the link, or a `revoke_offer`.
 */

export function makeOffer(dispatcher: Dispatcher, message: MakeOffer): void {
  const link = dispatcher.links.byNode.get(message.nodeId);
  if (link === undefined || link.linkId !== message.linkId) {
    giveBack(dispatcher, message, 'lost');
    return;
  }
  link.work.run(message.offerId, async () => {
    // The offer may arrive before this dispatcher has answered the `hello` of the link.
    await link.greeted;
    if (link.state === 'ended') giveBack(dispatcher, message, 'lost');
    else if (!takesOffers(link)) giveBack(dispatcher, message, 'declined', 'draining');
    // The registry may have lost a reservation, for example because Redis was emptied. So the slots
    // are counted here, too.
    else if (link.runs.size + link.offers.size >= link.slots)
      giveBack(dispatcher, message, 'declined', 'busy');
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
  inBackground(dispatcher, 'release the reservation of a slot', released);
  reportOfferResult(dispatcher, message, result, reason);
}

function sendOffer(dispatcher: Dispatcher, link: NodeLink, message: MakeOffer): void {
  const { offerId, jobType, tier, targetHost, maxNodeSeconds, expiresInMs, requestId } = message;
  const timer = dispatcher.timers.after(expiresInMs, () => {
    if (takeOffer(dispatcher, link, offerId, 'expired') === undefined) return;
    sendFrame(link, { type: 'revoke', offerId });
    const released = dispatcher.fleet.release(message.nodeId, message.submissionId, {
      silent: true,
    });
    inBackground(dispatcher, 'release the reservation of a slot', released);
    reportOfferResult(dispatcher, message, 'expired');
  });
  const sentAtMs = dispatcher.clock.monotonicMs();
  link.offers.set(offerId, { message, timer, sentAtMs, ended: Promise.withResolvers() });
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

function takeOffer(
  dispatcher: Dispatcher,
  link: NodeLink,
  offerId: string,
  answer: OfferAnswer,
): UnansweredOffer | undefined {
  const offer = link.offers.get(offerId);
  if (offer === undefined) return undefined;
  dispatcher.timeOffer(answer, dispatcher.clock.monotonicMs() - offer.sentAtMs);
  offer.timer.clear();
  link.offers.delete(offerId);
  offer.ended.resolve();
  return offer;
}

/**
 * Takes an offer back from its node. Does nothing if the offer has ended. An accept ends it too:
 * the commit of the accept then decides whether the node gets the submission.
 */
export function revokeOffer(dispatcher: Dispatcher, { nodeId, offerId }: RevokeOffer): void {
  const link = dispatcher.links.byNode.get(nodeId);
  const offer = link === undefined ? undefined : takeOffer(dispatcher, link, offerId, 'revoked');
  if (link === undefined || offer === undefined) return;
  sendFrame(link, { type: 'revoke', offerId });
  const silent = dispatcher.clock.monotonicMs() - offer.sentAtMs >= secondOfferAfterMs;
  const released = dispatcher.fleet.release(nodeId, offer.message.submissionId, { silent });
  inBackground(dispatcher, 'release the reservation of a slot', released);
}

export function onDecline(
  dispatcher: Dispatcher,
  link: NodeLink,
  { offerId, reason }: FrameFromNodeOf<'decline'>,
): void {
  const offer = takeOffer(dispatcher, link, offerId, 'declined');
  if (offer !== undefined) giveBack(dispatcher, offer.message, 'declined', reason);
}

function recordsWith(
  dispatcher: Dispatcher,
  { message, sentAtMs }: UnansweredOffer,
): OfferRecord[] {
  const { before, offerId, nodeId, offeredAt } = message;
  const askedMs = dispatcher.clock.monotonicMs() - sentAtMs;
  const answeredAt = new Date(Date.parse(offeredAt) + Math.round(askedMs)).toISOString();
  return [...before, { offerId, nodeId, answer: 'accepted', offeredAt, answeredAt }];
}

/**
 * Commits `dispatched` and then sends the payload to the node. If the node cannot have the
 * submission, answers `revoke`. Throws if the commit fails.
 */
export async function onAccept(
  dispatcher: Dispatcher,
  link: NodeLink,
  offerId: string,
): Promise<void> {
  const offer = takeOffer(dispatcher, link, offerId, 'accepted');
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
    commit = await traced(
      dispatcher.tracing,
      { step: 'accept', subjectId: submissionId, key: offerId },
      () => commitDispatched(dispatcher.store, { submissionId, nodeId, offers }),
      ({ kind }) => ({ 'svc.commit.result': kind }),
    );
  } catch (error) {
    // The commit may have succeeded in spite of the error. In that case no node gets the payload,
    // and the submission usually fails with the code `not_started`.
    refuse(dispatcher, link, message, 'lost');
    throw error;
  }
  if (commit.kind === 'not_pending') {
    refuse(dispatcher, link, message, 'gone');
    return;
  }
  if (commit.kind === 'unopened') {
    refuse(dispatcher, link, message, 'gone');
    await giveUpUnsent(dispatcher, link, submissionId);
    throw commit.error;
  }
  const { requestId } = commit;
  link.logger.info({ requestId, submissionId: toWireId('sub', submissionId) }, 'dispatched');
  run.requestId = requestId;
  await failpoint('dispatched.committed');
  confirmSlotLater(dispatcher, link, run);
  assign(dispatcher, link, { message, run, ...commit });
  reportOfferResult(dispatcher, message, 'dispatched');
  if (!hasEnded(link) || run.isAssigned) return;
  // The link ended before the payload was sent, so the node does not have the submission.
  freeSlot(dispatcher, link, submissionId);
  await giveUpUnsent(dispatcher, link, submissionId);
}

function assign(
  dispatcher: Dispatcher,
  link: NodeLink,
  assignment: { message: MakeOffer; run: LinkRun; payloadText: string; receipt: string },
): void {
  const { message, run, payloadText, receipt } = assignment;
  // If the submission was cancelled during the commit, the node does not get the payload.
  if (run.isStopping) {
    sendFrame(link, { type: 'revoke', offerId: message.offerId });
    freeSlot(dispatcher, link, message.submissionId);
    return;
  }
  if (hasEnded(link)) return;
  run.isAssigned = true;
  const { offerId } = message;
  const submissionId = toWireId('sub', message.submissionId);
  link.transport.send(assignFrameText({ offerId, submissionId, receipt, payloadText }));
}

function refuse(
  dispatcher: Dispatcher,
  link: NodeLink,
  message: MakeOffer,
  result: OfferResult,
): void {
  sendFrame(link, { type: 'revoke', offerId: message.offerId });
  freeSlot(dispatcher, link, message.submissionId);
  reportOfferResult(dispatcher, message, result);
}
