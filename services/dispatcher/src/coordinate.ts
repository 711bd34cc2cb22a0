import { toWireId } from '@svc/domain';
import type { Reservation } from '@svc/queue';
import { newId } from '@svc/runtime';
import { rejectPending, type DispatchableSubmission } from '@svc/store';

import { inBackground, type Dispatcher, type OfferingEvent } from './dispatcher.ts';
import { rebuildFleet } from './fleet-member.ts';
import { createInbox, type Inbox } from './inbox.ts';
import {
  beginOffering,
  expiresInMs,
  nextStep,
  silentOffers,
  withNobodyFound,
  withOffer,
  withoutOffer,
  withSearchPutOff,
  type Offering,
} from './offer.ts';
import { offerTerms, type OfferTerms } from './offer-message.ts';

/** A reservation outlives its offer by this, in case nobody releases it. */
const reservationGraceMs = 1_000;

/**
 * Brings one submission to a node, or back to its tenant: offers until one is accepted and
 * committed, and rejects it where there is nobody (left) to ask or its time is over, which
 * releases the hold in the same transaction. Throws when Postgres cannot be reached.
 */
export async function coordinate(
  dispatcher: Dispatcher,
  submission: DispatchableSubmission,
): Promise<void> {
  // A job that came twice: the first one is at it, and Postgres would refuse a second dispatch.
  if (dispatcher.offerings.has(submission.id)) return;
  const inbox = createInbox<OfferingEvent>(dispatcher.timers);
  dispatcher.offerings.set(submission.id, inbox);
  try {
    const ended = await offer(dispatcher, submission, inbox);
    if (ended === 'settled') return;
    await rejectPending(dispatcher.store, submission.id, { onlyOverdue: false });
  } finally {
    dispatcher.offerings.delete(submission.id);
  }
}

/** `settled`: the submission is pending no more. `nobody`: no node has it, and none will. */
async function offer(
  dispatcher: Dispatcher,
  submission: DispatchableSubmission,
  inbox: Inbox<OfferingEvent>,
): Promise<'settled' | 'nobody'> {
  const terms = offerTerms(submission, dispatcher);
  let offering = beginOffering(dispatcher.clock.monotonicMs(), submission.remainingMs);
  for (;;) {
    offering = withoutSilent(dispatcher, offering);
    const nowMs = dispatcher.clock.monotonicMs();
    const step = nextStep(offering, nowMs);
    let event = inbox.poll();
    if (event === undefined && step.kind === 'wait') event = await inbox.next(step.untilMs - nowMs);
    if (event !== undefined) {
      if (settles(event)) {
        revokeAll(dispatcher, offering, event);
        return 'settled';
      }
      if (event.kind === 'offer_ended') offering = withoutOffer(offering, event.offerId);
    } else if (step.kind === 'give_up') {
      revokeAll(dispatcher, offering);
      return 'nobody';
    } else if (step.kind === 'search') {
      offering = await askNext(dispatcher, offering, terms);
    }
  }
}

function settles(event: OfferingEvent): boolean {
  if (event.kind === 'stopped') return true;
  return event.result === 'dispatched' || event.result === 'gone';
}

/** Reserves a slot and has the offer made by whoever holds the node's link. */
async function askNext(
  dispatcher: Dispatcher,
  offering: Offering,
  terms: OfferTerms,
): Promise<Offering> {
  const reservation = await reserve(dispatcher, offering, terms);
  const nowMs = dispatcher.clock.monotonicMs();
  switch (reservation.kind) {
    case 'no_headroom':
    case 'none_left':
      return withNobodyFound(offering, nowMs);
    case 'rebuilding':
    case 'lost':
      return withSearchPutOff(offering, nowMs);
    case 'reserved':
      break;
  }
  const { nodeId, dispatcherId, linkId } = reservation;
  const offerId = toWireId('ofr', newId());
  const asked = withOffer(offering, { offerId, nodeId, dispatcherId, openedAtMs: nowMs });
  const isHeard = await isSent(dispatcher, dispatcherId, {
    kind: 'make_offer',
    coordinatorId: dispatcher.id,
    nodeId,
    linkId,
    offerId,
    expiresInMs: expiresInMs(offering, nowMs),
    ...terms,
  });
  if (isHeard) return asked;
  // The dispatcher that held the link is gone, and the reservation goes with its nodes.
  const given = dispatcher.fleet.suspect(dispatcherId);
  inBackground(dispatcher, 'give up a dispatcher', given);
  return withoutOffer(asked, offerId);
}

async function isSent(
  dispatcher: Dispatcher,
  to: string,
  message: Parameters<Dispatcher['bus']['send']>[1],
): Promise<boolean> {
  try {
    return await dispatcher.bus.send(to, message);
  } catch (error) {
    dispatcher.logger.warn({ err: error }, 'could not send an offer');
    return false;
  }
}

/** Redis that cannot be reached counts as a registry that is lost: it may be back in time. */
async function reserve(
  dispatcher: Dispatcher,
  offering: Offering,
  terms: OfferTerms,
): Promise<Reservation> {
  try {
    const reservation = await dispatcher.fleet.reserve({
      dispatcherId: dispatcher.id,
      jobType: terms.jobType,
      tier: terms.tier,
      excludeNodeIds: offering.askedNodeIds,
      submissionId: terms.submissionId,
      ttlMs: expiresInMs(offering, dispatcher.clock.monotonicMs()) + reservationGraceMs,
    });
    if (reservation.kind === 'lost') await rebuildFleet(dispatcher);
    return reservation;
  } catch (error) {
    dispatcher.logger.warn({ err: error }, 'could not reserve a slot');
    return { kind: 'lost' };
  }
}

function revoke(dispatcher: Dispatcher, open: Offering['open'][number]): void {
  const { dispatcherId, nodeId, offerId } = open;
  const message = { kind: 'revoke_offer', nodeId, offerId } as const;
  inBackground(dispatcher, 'revoke an offer', dispatcher.bus.send(dispatcherId, message));
}

/** Of the open offers, all but the one that `event` tells of. */
function revokeAll(dispatcher: Dispatcher, offering: Offering, event?: OfferingEvent): void {
  const ended = event?.kind === 'offer_ended' ? event.offerId : undefined;
  for (const open of offering.open) {
    if (open.offerId !== ended) revoke(dispatcher, open);
  }
}

/** Goes on without the offers whose dispatcher has said nothing beyond their time. */
function withoutSilent(dispatcher: Dispatcher, offering: Offering): Offering {
  let rest = offering;
  for (const open of silentOffers(offering, dispatcher.clock.monotonicMs())) {
    revoke(dispatcher, open);
    rest = withoutOffer(rest, open.offerId);
  }
  return rest;
}
