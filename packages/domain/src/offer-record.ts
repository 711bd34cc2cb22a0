/**
 * How an offer ended. `revoked`: the node was not needed. `disconnected`: sending failed, the link
 * ended, the dispatcher of the link did not answer, or the assignment failed.
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
