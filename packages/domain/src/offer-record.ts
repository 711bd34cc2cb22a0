/**
 * How an offer ended. `revoked`: the node was not needed. `disconnected`: the offer could not be
 * sent, the node's link ended, the link's dispatcher reported no result, or the commit of the
 * assignment gave an error.
 */
export const offerAnswers = ['accepted', 'declined', 'expired', 'disconnected', 'revoked'] as const;
export type OfferAnswer = (typeof offerAnswers)[number];

export interface OfferRecord {
  /** The wire id (`ofr_…`). */
  readonly offerId: string;
  /** A UUID. */
  readonly nodeId: string;
  readonly answer: OfferAnswer;
  readonly reason?: string;
  /** `offeredAt` and `answeredAt` are in RFC 3339, by the database's clock. */
  readonly offeredAt: string;
  readonly answeredAt: string;
}

/** The most offers that are kept for a submission. If there are more, only the latest are kept. */
export const offerRecordsMax = 20;
