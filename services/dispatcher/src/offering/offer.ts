import {
  offerRecordsMax,
  offerTimeoutMs,
  openOffersMax,
  secondOfferAfterMs,
  type OfferAnswer,
  type OfferRecord,
} from '@svc/domain';

/**
 * What the offering of one submission does next (CONTRACT 7, "At most once"), decided from
 * its state and the time alone. Times are of one monotonic clock.
 */

export interface OpenOffer {
  readonly offerId: string;
  readonly nodeId: string;
  /** The dispatcher that holds the node's link. */
  readonly dispatcherId: string;
  readonly openedAtMs: number;
  /** What had been answered before it was made, which is committed together with its accept. */
  readonly before: readonly OfferRecord[];
}

/** How an offer ended, and when by the clock of `openedAtMs`. */
export interface OfferEnd {
  readonly answer: OfferAnswer;
  readonly reason?: string | undefined;
  readonly atMs: number;
}

export interface Offering {
  readonly beganAtMs: number;
  /** The database's clock at `beganAtMs`. */
  readonly beganAt: Date;
  /** The dispatch deadline: whatever is open then is void. */
  readonly deadlineMs: number;
  readonly open: readonly OpenOffer[];
  /** The latest of those that have been answered. */
  readonly records: readonly OfferRecord[];
  /** Nobody is asked twice for one submission. */
  readonly askedNodeIds: readonly string[];
  /** No node is looked for before this. */
  readonly searchAtMs: number;
  /** With no offer open, no slot was free for the tier: there is nothing left to wait for. */
  readonly isExhausted: boolean;
}

export type OfferingStep =
  | { readonly kind: 'search' }
  | { readonly kind: 'wait'; readonly untilMs: number }
  | { readonly kind: 'give_up' };

/**
 * The dispatcher that holds the link ends an offer in time and says so. Only where it does not say
 * anything, because it is gone, does the offer end here, this much later.
 */
const silentHolderAfterMs = 250;
/** Whoever is asked with less time left could not answer, and would pass for silent. */
export const answerMsMin = 100;
/** With an offer open and nobody else free, others are looked for again after this. */
export const searchAgainAfterMs = 300;
/** While the fleet registry is being rebuilt, or Redis is away. */
export const searchAgainSoonMs = 100;

export function beginOffering(
  nowMs: number,
  { remainingMs, asOf }: { readonly remainingMs: number; readonly asOf: Date },
): Offering {
  return {
    beganAtMs: nowMs,
    beganAt: asOf,
    deadlineMs: nowMs + remainingMs,
    open: [],
    records: [],
    askedNodeIds: [],
    searchAtMs: nowMs,
    isExhausted: false,
  };
}

/** When the offer is void here, though its holder has not said so. */
function givenUpAtMs(offer: OpenOffer): number {
  return offer.openedAtMs + offerTimeoutMs + silentHolderAfterMs;
}

export function nextStep(offering: Offering, nowMs: number): OfferingStep {
  const { open, deadlineMs } = offering;
  if (nowMs >= deadlineMs) return { kind: 'give_up' };
  if (open.length === 0 && offering.isExhausted) return { kind: 'give_up' };
  const [first] = open;
  const ends = [deadlineMs, ...open.map(givenUpAtMs)];
  const isTooLate = deadlineMs - nowMs < answerMsMin;
  if (isTooLate && open.length === 0) return { kind: 'give_up' };
  if (isTooLate || open.length >= openOffersMax) {
    return { kind: 'wait', untilMs: Math.min(...ends) };
  }
  const searchAtMs =
    first === undefined
      ? offering.searchAtMs
      : Math.max(offering.searchAtMs, first.openedAtMs + secondOfferAfterMs);
  if (nowMs >= searchAtMs) return { kind: 'search' };
  return { kind: 'wait', untilMs: Math.min(searchAtMs, ...ends) };
}

/** How long a node has to answer an offer that is made now: at most 2 s, and whole milliseconds. */
export function expiresInMs(offering: Offering, nowMs: number): number {
  return Math.max(1, Math.min(offerTimeoutMs, Math.floor(offering.deadlineMs - nowMs)));
}

export function withOffer(offering: Offering, offer: Omit<OpenOffer, 'before'>): Offering {
  return {
    ...offering,
    open: [...offering.open, { ...offer, before: offering.records }],
    askedNodeIds: [...offering.askedNodeIds, offer.nodeId],
  };
}

/** The offer came to nothing: the next node is looked for at once. */
export function withoutOffer(offering: Offering, offerId: string, end: OfferEnd): Offering {
  const ended = offering.open.find((offer) => offer.offerId === offerId);
  if (ended === undefined) return offering;
  const open = offering.open.filter((offer) => offer !== ended);
  const records = [...offering.records, recordOf(offering, ended, end)].slice(-offerRecordsMax);
  return { ...offering, open, records, searchAtMs: 0, isExhausted: false };
}

/** The same with all that is open ended in one way. */
export function withoutOffers(offering: Offering, end: OfferEnd): Offering {
  let rest = offering;
  for (const { offerId } of offering.open) rest = withoutOffer(rest, offerId, end);
  return rest;
}

/** A moment of the offering by the database's clock, RFC 3339. */
export function databaseTime({ beganAt, beganAtMs }: Offering, atMs: number): string {
  return new Date(beganAt.getTime() + Math.round(atMs - beganAtMs)).toISOString();
}

function recordOf(offering: Offering, offer: OpenOffer, end: OfferEnd): OfferRecord {
  return {
    offerId: offer.offerId,
    nodeId: offer.nodeId,
    answer: end.answer,
    ...(end.reason === undefined ? {} : { reason: end.reason }),
    offeredAt: databaseTime(offering, offer.openedAtMs),
    answeredAt: databaseTime(offering, end.atMs),
  };
}

/** No node was to be had. */
export function withNobodyFound(offering: Offering, nowMs: number): Offering {
  if (offering.open.length === 0) return { ...offering, isExhausted: true };
  return { ...offering, searchAtMs: nowMs + searchAgainAfterMs };
}

/** Whether a node is to be had could not be told. */
export function withSearchPutOff(offering: Offering, nowMs: number): Offering {
  return { ...offering, searchAtMs: nowMs + searchAgainSoonMs };
}

/** The offers whose holder has stayed silent beyond their time. */
export function silentOffers(offering: Offering, nowMs: number): readonly OpenOffer[] {
  return offering.open.filter((offer) => nowMs >= givenUpAtMs(offer));
}
