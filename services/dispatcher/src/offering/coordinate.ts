import type { OfferResult } from '@svc/contracts';
import {
  offerRecordsMax,
  runLimitMs,
  toWireId,
  type OfferAnswer,
  type OfferRecord,
} from '@svc/domain';
import type { Reply, Reservation } from '@svc/queue';
import { newId } from '@svc/runtime';
import { recordOffers, rejectPending } from '@svc/store';
import { inBackground, type Dispatcher, type OfferingEvent } from '../dispatcher.ts';
import { rebuildFleet } from '../fleet/fleet-member.ts';
import { confirmAfterMs } from '../fleet/slots.ts';
import { createInbox, type Inbox } from './inbox.ts';
import {
  beginOffering,
  databaseTime,
  expiresInMs,
  nextStep,
  silentOffers,
  withNobodyFound,
  withOffer,
  withoutOffer,
  withoutOffers,
  withSearchPutOff,
  type OfferEnd,
  type Offering,
} from './offer.ts';
import type { Offerable } from './offerable.ts';

/**
 * A reservation expires this long after the expiry of its offer. This leaves time to commit an
 * accept and to confirm the slot in the fleet registry.
 */
const reservationGraceMs = confirmAfterMs + 1_000;

/**
 * Offers one submission to nodes, and rejects it if none takes it. Returns `look` if the gateway
 * must read the result from Postgres. Throws if the rejection fails.
 */
export async function coordinate(
  dispatcher: Dispatcher,
  submission: Offerable,
): Promise<Pick<Reply, 'news' | 'proof'>> {
  // The queue can deliver a job twice. A second offering would be useless, because Postgres accepts
  // only one dispatch of a submission.
  if (dispatcher.offerings.has(submission.id)) return { news: 'look' };
  const inbox = createInbox<OfferingEvent>(dispatcher.timers);
  dispatcher.offerings.set(submission.id, inbox);
  try {
    const ended = await offer(dispatcher, submission, inbox);
    recordOfferSpans(dispatcher, submission.id, ended.offers);
    if (ended.kind === 'settled') {
      if (!ended.isRecorded) recordAll(dispatcher, submission.id, ended.offers);
      return ended.isDispatched ? { news: 'dispatched', proof: ended.proof } : { news: 'look' };
    }
    const offers = ended.offers.length === 0 ? {} : { offers: ended.offers };
    await rejectPending(dispatcher.store, submission.id, { onlyOverdue: false, ...offers });
    return { news: 'look' };
  } finally {
    dispatcher.offerings.delete(submission.id);
  }
}

/**
 * If the submission is traced, records a span for each of `offers`. The times of the spans are by
 * the database's clock.
 */
function recordOfferSpans(
  { tracing }: Dispatcher,
  subjectId: string,
  offers: readonly OfferRecord[],
): void {
  if (!tracing.isTraced(subjectId)) return;
  for (const { offerId, nodeId, answer, offeredAt, answeredAt } of offers) {
    tracing.record({
      step: 'offer',
      subjectId,
      key: offerId,
      startMs: Date.parse(offeredAt),
      endMs: Date.parse(answeredAt),
      attributes: { 'svc.offer.answer': answer, 'svc.node.id': toWireId('nod', nodeId) },
    });
  }
}

/** Records the offers in the background, because the records serve only later investigations. */
function recordAll(
  dispatcher: Dispatcher,
  submissionId: string,
  offers: readonly OfferRecord[],
): void {
  const recorded = recordOffers(dispatcher.store, submissionId, offers);
  inBackground(dispatcher, 'record the offers of a submission', recorded);
}

type Ended =
  /**
   * An `OfferingEvent` shows that the submission has left `pending`, or that its dispatch deadline
   * has passed.
   */
  | {
      readonly kind: 'settled';
      /** True if this offering has committed `dispatched`. */
      readonly isDispatched: boolean;
      readonly proof?: string | undefined;
      /** True if the records in `offers` are already stored, or if there are none. */
      readonly isRecorded: boolean;
      readonly offers: readonly OfferRecord[];
    }
  /** The offering has given up. It does not know whether `dispatched` was committed. */
  | { readonly kind: 'nobody'; readonly offers: readonly OfferRecord[] };

const answers: Readonly<Record<OfferResult, OfferAnswer>> = {
  dispatched: 'accepted',
  gone: 'revoked',
  declined: 'declined',
  expired: 'expired',
  lost: 'disconnected',
};

async function offer(
  dispatcher: Dispatcher,
  submission: Offerable,
  inbox: Inbox<OfferingEvent>,
): Promise<Ended> {
  let offering = beginOffering(dispatcher.clock.monotonicMs(), submission);
  for (;;) {
    offering = withoutSilent(dispatcher, offering);
    const nowMs = dispatcher.clock.monotonicMs();
    const step = nextStep(offering, nowMs);
    let event = inbox.poll();
    if (event === undefined && step.kind === 'wait') event = await inbox.next(step.untilMs - nowMs);
    if (event !== undefined) {
      const before = offering;
      offering = withEvent(offering, event, dispatcher.clock.monotonicMs());
      if (settles(event)) {
        revokeAll(dispatcher, offering);
        return settled(before, event, withoutOffers(offering, revokedAt(dispatcher)));
      }
    } else if (step.kind === 'give_up') {
      revokeAll(dispatcher, offering);
      // Offers can be open here only if the deadline has passed. Each offer expires at the deadline
      // at the latest, so these offers are recorded as expired.
      const end = { answer: 'expired', atMs: dispatcher.clock.monotonicMs() } as const;
      return { kind: 'nobody', offers: withoutOffers(offering, end).records };
    } else if (step.kind === 'search') {
      offering = await askNext(dispatcher, offering, submission);
    }
  }
}

function revokedAt(dispatcher: Dispatcher): OfferEnd {
  return { answer: 'revoked', atMs: dispatcher.clock.monotonicMs() };
}

function withEvent(offering: Offering, event: OfferingEvent, atMs: number): Offering {
  if (event.kind === 'stopped') return offering;
  const { offerId, result, reason } = event;
  return withoutOffer(offering, offerId, { answer: answers[result], reason, atMs });
}

function settled(before: Offering, event: OfferingEvent, after: Offering): Ended {
  const isDispatched = event.kind === 'offer_ended' && event.result === 'dispatched';
  const accepted = isDispatched
    ? before.open.find(({ offerId }) => offerId === event.offerId)
    : undefined;
  // True if the commit of the accept has stored all of these records.
  const isRecorded =
    after.records.length === 0 ||
    (accepted !== undefined && before.open.length === 1 && accepted.before === before.records);
  const proof = isDispatched ? event.proof : undefined;
  return { kind: 'settled', isDispatched, proof, isRecorded, offers: after.records };
}

function settles(event: OfferingEvent): boolean {
  if (event.kind === 'stopped') return true;
  return event.result === 'dispatched' || event.result === 'gone';
}

async function askNext(
  dispatcher: Dispatcher,
  offering: Offering,
  submission: Offerable,
): Promise<Offering> {
  const { id: submissionId, facts } = submission;
  const reservation = await reserve(dispatcher, offering, submission);
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
  const sent = await send(dispatcher, dispatcherId, {
    kind: 'make_offer',
    coordinatorId: dispatcher.id,
    nodeId,
    linkId,
    offerId,
    expiresInMs: expiresInMs(offering, nowMs),
    offeredAt: databaseTime(offering, nowMs),
    // If the node accepts, the commit stores `before` and the record of this offer: together at
    // most `offerRecordsMax` records.
    before: offering.records.slice(1 - offerRecordsMax),
    submissionId,
    maxNodeSeconds: runLimitMs[facts.tier] / 1000,
    ...facts,
  });
  if (sent === 'received') return asked;
  if (sent === 'missed') {
    // The dispatcher of the link is not subscribed to the bus, so it may be gone. `suspect` makes
    // the registry drop the nodes of that dispatcher and their reservations.
    const suspected = dispatcher.fleet.suspect(dispatcherId);
    inBackground(dispatcher, 'report a missing dispatcher to the fleet registry', suspected);
  }
  const atMs = dispatcher.clock.monotonicMs();
  return withoutOffer(asked, offerId, { answer: 'disconnected', atMs });
}

/**
 * `missed`: the dispatcher `to` is not subscribed to the bus. `unknown`: `bus.send` failed, so the
 * dispatcher `to` may or may not have got the message.
 */
async function send(
  dispatcher: Dispatcher,
  to: string,
  message: Parameters<Dispatcher['bus']['send']>[1],
): Promise<'received' | 'missed' | 'unknown'> {
  try {
    return (await dispatcher.bus.send(to, message)) ? 'received' : 'missed';
  } catch (error) {
    dispatcher.logger.warn({ err: error }, 'could not send an offer');
    return 'unknown';
  }
}

/**
 * Reserves a slot for the next offer. If the registry is lost, rebuilds it. Any error is logged and
 * returned as `lost`, so that the caller tries again later.
 */
async function reserve(
  dispatcher: Dispatcher,
  offering: Offering,
  { id: submissionId, tenantId, facts: { jobType, tier } }: Offerable,
): Promise<Reservation> {
  // Only the first offer of a submission counts against the fair share of its tenant.
  const isFirst = offering.askedNodeIds.length === 0;
  try {
    const reservation = await dispatcher.fleet.reserve({
      dispatcherId: dispatcher.id,
      jobType,
      tier,
      excludeNodeIds: offering.askedNodeIds,
      submissionId,
      tenantId: isFirst ? tenantId : undefined,
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

function revokeAll(dispatcher: Dispatcher, offering: Offering): void {
  for (const open of offering.open) revoke(dispatcher, open);
}

function withoutSilent(dispatcher: Dispatcher, offering: Offering): Offering {
  let rest = offering;
  const atMs = dispatcher.clock.monotonicMs();
  for (const open of silentOffers(offering, atMs)) {
    revoke(dispatcher, open);
    rest = withoutOffer(rest, open.offerId, { answer: 'disconnected', atMs });
  }
  return rest;
}
