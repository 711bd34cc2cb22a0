import {
  offerRecordsMax,
  offerTimeoutMs,
  openOffersMax,
  secondOfferAfterMs,
  type OfferAnswer,
  type OfferRecord,
} from '@svc/domain';

/**
 * Decides the next step in the offering of one submission (CONTRACT 7, "At most once"). All points
 * in time whose names end in `Ms` are of one monotonic clock.
 */

export interface OpenOffer {
  readonly offerId: string;
  readonly nodeId: string;
  readonly dispatcherId: string;
  readonly openedAtMs: number;
  /**
   * The records of the submission's offers that ended before this offer was made. If the node
   * accepts this offer, the commit also stores the newest `offerRecordsMax - 1` of them.
   */
  readonly before: readonly OfferRecord[];
}

export interface OfferEnd {
  readonly answer: OfferAnswer;
  readonly reason?: string | undefined;
  readonly atMs: number;
}

export interface Offering {
  readonly beganAtMs: number;
  /** The same moment as `beganAtMs`, by the clock of the database. It is approximate. */
  readonly beganAt: Date;
  /** The dispatch deadline. Offers that are open at this time expire. */
  readonly deadlineMs: number;
  readonly open: readonly OpenOffer[];
  /** The latest offers that have ended, at most `offerRecordsMax`. */
  readonly records: readonly OfferRecord[];
  /** The nodes that were asked. No node is asked twice in one offering. */
  readonly askedNodeIds: readonly string[];
  readonly searchAtMs: number;
  /** True if no offer is open and the last search found no node to ask. The offering then ends. */
  readonly isExhausted: boolean;
}

export type OfferingStep =
  | { readonly kind: 'search' }
  | { readonly kind: 'wait'; readonly untilMs: number }
  | { readonly kind: 'give_up' };

/**
 * If the dispatcher of the node's link has reported no result this long after `offerTimeoutMs`, the
 * dispatcher that offers the submission ends the offer.
 */
const silentDispatcherAfterMs = 250;
/**
 * A node is asked only if at least this much time is left before the deadline. With less time, it
 * could not answer and would count as silent.
 */
export const answerMsMin = 100;
/**
 * The delay before the next search if an offer is open and `reserve` returned `no_headroom` or
 * `none_left`.
 */
export const searchAgainAfterMs = 300;
/**
 * The delay before the next search if `reserve` returned `rebuilding` or `lost`: the fleet registry
 * may lack nodes, or Redis did not answer.
 */
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

function givenUpAtMs(offer: OpenOffer): number {
  return offer.openedAtMs + offerTimeoutMs + silentDispatcherAfterMs;
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

/**
 * The time that a node has to answer an offer made at `nowMs`: at most `offerTimeoutMs`, and not
 * beyond the deadline. In whole milliseconds, at least 1.
 */
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

/** Moves an open offer to the records. Does nothing if the offer `offerId` is not open. */
export function withoutOffer(offering: Offering, offerId: string, end: OfferEnd): Offering {
  const ended = offering.open.find((offer) => offer.offerId === offerId);
  if (ended === undefined) return offering;
  const open = offering.open.filter((offer) => offer !== ended);
  const records = [...offering.records, recordOf(offering, ended, end)].slice(-offerRecordsMax);
  // With `searchAtMs: 0`, the next search begins at once. If another offer is open, the search
  // begins `secondOfferAfterMs` after that offer.
  return { ...offering, open, records, searchAtMs: 0, isExhausted: false };
}

export function withoutOffers(offering: Offering, end: OfferEnd): Offering {
  let rest = offering;
  for (const { offerId } of offering.open) rest = withoutOffer(rest, offerId, end);
  return rest;
}

/** Converts `atMs` from the dispatcher's monotonic clock to the database's clock, as RFC 3339. */
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

export function withNobodyFound(offering: Offering, nowMs: number): Offering {
  if (offering.open.length === 0) return { ...offering, isExhausted: true };
  return { ...offering, searchAtMs: nowMs + searchAgainAfterMs };
}

export function withSearchPutOff(offering: Offering, nowMs: number): Offering {
  return { ...offering, searchAtMs: nowMs + searchAgainSoonMs };
}

export function silentOffers(offering: Offering, nowMs: number): readonly OpenOffer[] {
  return offering.open.filter((offer) => nowMs >= givenUpAtMs(offer));
}
