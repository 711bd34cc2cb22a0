import { offerAnswers, offerRecordsMax, offerTimeoutMs, runLimitMs } from '@svc/domain';
import { Type, type Static } from 'typebox';
import { OfferFacts } from './offer-facts.ts';

/**
 * The messages to dispatchers over Redis channels (CONTRACT 7). A lost message costs time, but
 * causes no wrong state.
 */

/** Ids are UUIDs, except offer ids, which are in wire form. */
const Id = Type.String({ minLength: 1, maxLength: 64 });

const nodeSecondsMax = Math.max(...Object.values(runLimitMs)) / 1_000;
const reasonLengthMax = 256;

const OfferRecord = Type.Object({
  offerId: Id,
  nodeId: Id,
  answer: Type.Enum(offerAnswers),
  reason: Type.Optional(Type.String({ maxLength: reasonLengthMax })),
  offeredAt: Type.String(),
  answeredAt: Type.String(),
});

export const MakeOffer = Type.Object({
  kind: Type.Literal('make_offer'),
  /** The dispatcher that coordinates the submission. It gets the result of the offer. */
  coordinatorId: Id,
  nodeId: Id,
  linkId: Id,
  offerId: Id,
  submissionId: Id,
  maxNodeSeconds: Type.Integer({ minimum: 1, maximum: nodeSecondsMax }),
  expiresInMs: Type.Integer({ minimum: 1, maximum: offerTimeoutMs }),
  /** RFC 3339, by the database's clock. */
  offeredAt: Type.String(),
  /**
   * The latest offers of the submission that have already ended. If the node accepts, the commit of
   * the assignment also stores these offers.
   */
  before: Type.Array(OfferRecord, { maxItems: offerRecordsMax }),
  ...OfferFacts.properties,
});
export type MakeOffer = Static<typeof MakeOffer>;

/**
 * Asks the dispatcher with the node's link to revoke the offer. An accepted offer whose commit is
 * in progress is not revoked.
 */
export const RevokeOffer = Type.Object({
  kind: Type.Literal('revoke_offer'),
  nodeId: Id,
  offerId: Id,
});
export type RevokeOffer = Static<typeof RevokeOffer>;

export const offerResults = [
  // The node accepted, and the assignment is committed.
  'dispatched',
  // The node accepted, but the submission was not pending any more.
  'gone',
  // The node declined, or its link takes no offers.
  'declined',
  'expired',
  // The dispatcher does not have the link, the link ended, or the commit failed.
  'lost',
] as const;
export type OfferResult = (typeof offerResults)[number];
export const OfferEnded = Type.Object({
  kind: Type.Literal('offer_ended'),
  submissionId: Id,
  offerId: Id,
  result: Type.Enum(offerResults),
  /**
   * `dispatchProof` of the submission, with the result `dispatched`. Without it, the gateway reads
   * the state from Postgres. Dispatchers of an older version omit it.
   */
  proof: Type.Optional(Type.String({ maxLength: 64 })),
  reason: Type.Optional(Type.String({ maxLength: reasonLengthMax })),
});
export type OfferEnded = Static<typeof OfferEnded>;

/**
 * Reports to all dispatchers that a cancel, a deadline or an expired lease ended this submission.
 * They stop offering it, and its node is asked to stop the work.
 */
export const StopSubmission = Type.Object({
  kind: Type.Literal('stop_submission'),
  submissionId: Id,
});

/**
 * Reports to the other dispatchers that this node has a new link. A dispatcher that has an older
 * link of the node closes the older link.
 */
export const NodeLinked = Type.Object({
  kind: Type.Literal('node_linked'),
  nodeId: Id,
  linkId: Id,
  /** The link's number from the fleet registry. Receivers use it only if `linkEpoch` is missing. */
  epoch: Type.Integer(),
  /**
   * The link's number from Postgres. The newest link of a node has the highest number. Dispatchers
   * of an older version omit it.
   */
  linkEpoch: Type.Optional(Type.Integer()),
});
export type NodeLinked = Static<typeof NodeLinked>;

/**
 * Reports to all dispatchers that an operator changed this node. The dispatcher with the node's
 * link reads the settings of the node again.
 */
export const NodeChanged = Type.Object({ kind: Type.Literal('node_changed'), nodeId: Id });

/**
 * Reports to the other dispatchers that the fleet registry was lost. Each dispatcher then registers
 * its nodes again.
 */
export const RegistryLost = Type.Object({ kind: Type.Literal('registry_lost') });

export const DispatcherMessage = Type.Union([
  MakeOffer,
  RevokeOffer,
  OfferEnded,
  StopSubmission,
  NodeLinked,
  NodeChanged,
  RegistryLost,
]);
export type DispatcherMessage = Static<typeof DispatcherMessage>;

export const busBatchMax = 64;

/** Messages to one dispatcher, published together as one Redis message (decision 31). */
export const DispatcherBatch = Type.Object({
  from: Id,
  /**
   * The receiver checks each message separately against `DispatcherMessage`, because a newer
   * dispatcher may send a kind that the receiver does not know.
   */
  messages: Type.Array(Type.Unknown(), { minItems: 1, maxItems: busBatchMax }),
});
