/**
 * The outcome of each offer of a submission, stored with it for later analysis (`svc trace`).
 * `accepted`: the submission was assigned to the node. `revoked`: another node was first, or the
 * offering ended in another way. `disconnected`: the node's link was gone, or broke before the
 * answer.
 */
export const offerAnswers = ['accepted', 'declined', 'expired', 'disconnected', 'revoked'] as const;
export type OfferAnswer = (typeof offerAnswers)[number];

export interface OfferRecord {
  /** In wire form. */
  readonly offerId: string;
  /** A UUID. */
  readonly nodeId: string;
  readonly answer: OfferAnswer;
  /** Why a node declined. */
  readonly reason?: string;
  /** RFC 3339, by the database's clock. */
  readonly offeredAt: string;
  readonly answeredAt: string;
}

/** The most offers that are kept. If there are more, only the latest are kept. */
export const offerRecordsMax = 20;
