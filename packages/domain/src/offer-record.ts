/**
 * What became of each offer of a submission, kept with it for whoever looks into it later
 * (`svc trace`). `accepted`: the node has it. `revoked`: another node was first, or the offering
 * ended otherwise. `disconnected`: its link was gone, or broke before it had answered.
 */
export const offerAnswers = ['accepted', 'declined', 'expired', 'disconnected', 'revoked'] as const;
export type OfferAnswer = (typeof offerAnswers)[number];

export interface OfferRecord {
  /** As on the wire. */
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

/** Of more offers than this the latest are kept. */
export const offerRecordsMax = 20;
