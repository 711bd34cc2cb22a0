/**
 * How an offer of a submission ended. The answer is stored with the submission and shown by `svc
 * trace`. `accepted`: the submission was assigned to the node. `declined`: the node declined the
 * offer or takes no offers. `expired`: the node did not answer in time. `revoked`: the node was not
 * needed, for example because another node was first. `disconnected`: the node's link or its
 * dispatcher was gone before the answer, or the assignment could not be committed.
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
