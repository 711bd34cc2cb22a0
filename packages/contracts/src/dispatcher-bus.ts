import { offerAnswers, offerRecordsMax } from '@svc/domain';
import { Type, type Static } from 'typebox';
import { OfferFacts } from './offer-facts.ts';

/**
 * What dispatchers tell one another over Redis's channels (CONTRACT 7: a job taken by one
 * is offered through another). A lost message costs time and never correctness: an offer runs out
 * by itself, and what has ended is refused by Postgres. Ids are UUIDs, but an offer's, which is as
 * on the wire; nothing of a payload travels here but the host that an offer names.
 */

const Id = Type.String({ minLength: 1, maxLength: 64 });

const OfferRecord = Type.Object({
  offerId: Id,
  nodeId: Id,
  answer: Type.Enum(offerAnswers),
  reason: Type.Optional(Type.String()),
  offeredAt: Type.String(),
  answeredAt: Type.String(),
});

/** To the dispatcher that holds the node's link: make this offer. */
export const MakeOffer = Type.Object({
  kind: Type.Literal('make_offer'),
  /** The dispatcher that coordinates the submission and wants to know what became of the offer. */
  coordinatorId: Id,
  nodeId: Id,
  linkId: Id,
  offerId: Id,
  submissionId: Id,
  maxNodeSeconds: Type.Integer({ minimum: 1 }),
  expiresInMs: Type.Integer({ minimum: 1 }),
  /** RFC 3339, by the database's clock. */
  offeredAt: Type.String(),
  /** What came before it; an accept is committed together with it. */
  before: Type.Array(OfferRecord, { maxItems: offerRecordsMax }),
  ...OfferFacts.properties,
});
export type MakeOffer = Static<typeof MakeOffer>;

/** To the dispatcher that holds the node's link: the offer is void, unless it is being committed. */
export const RevokeOffer = Type.Object({
  kind: Type.Literal('revoke_offer'),
  nodeId: Id,
  offerId: Id,
});
export type RevokeOffer = Static<typeof RevokeOffer>;

/**
 * To the coordinating dispatcher. `dispatched`: accepted and committed. `gone`: accepted, but the
 * submission was no longer pending. `lost`: the link is not there, or broke, or the commit failed.
 */
export const offerResults = ['dispatched', 'gone', 'declined', 'expired', 'lost'] as const;
export type OfferResult = (typeof offerResults)[number];
export const OfferEnded = Type.Object({
  kind: Type.Literal('offer_ended'),
  submissionId: Id,
  offerId: Id,
  result: Type.Enum(offerResults),
  /** Why the node declined. */
  reason: Type.Optional(Type.String()),
});
export type OfferEnded = Static<typeof OfferEnded>;

/** To all: this submission has ended otherwise than by its node; whoever has it stops. */
export const StopSubmission = Type.Object({
  kind: Type.Literal('stop_submission'),
  submissionId: Id,
});

/** To all: this node has a new link; an older one is to be closed. */
export const NodeLinked = Type.Object({
  kind: Type.Literal('node_linked'),
  nodeId: Id,
  linkId: Id,
  epoch: Type.Integer(),
  /** The number of the link in Postgres; dispatchers of an older version send none. */
  linkEpoch: Type.Optional(Type.Integer()),
});
export type NodeLinked = Static<typeof NodeLinked>;

/** To all: an operator has changed this node; whoever holds its link looks at once. */
export const NodeChanged = Type.Object({ kind: Type.Literal('node_changed'), nodeId: Id });

/** To all: the fleet registry was lost; enter your nodes again at once. */
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
