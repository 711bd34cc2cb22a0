import { failureCodes, idempotencyKeyLengthMax, wireStatuses } from '@svc/domain';
import { Type, type Static } from 'typebox';
import { JobResult } from '../node-link.ts';
import {
  Credits,
  pageParameters,
  PageOf,
  QueryTime,
  QuoteFigures,
  RefundFigures,
  Tier,
  Time,
  UsageFigures,
  WireId,
} from './common.ts';

/** The schemas of `/v1/submissions` and `/v1/quotes` (CONTRACT 3 and 5). */

export const IdempotencyKey = Type.String({ minLength: 1, maxLength: idempotencyKeyLengthMax });

/**
 * Later checks refuse unknown job types and tiers, and payloads that do not match the schema of the
 * job type (CONTRACT 3).
 */
const envelopeMembers = {
  jobType: Type.String(),
  tier: Type.Optional(Type.String()),
  payload: Type.Object({}),
};

/**
 * The body of `POST /v1/submissions`. Unknown members are refused, because a misspelt `tier` would
 * otherwise get the price of the default tier.
 */
export const SubmissionRequest = Type.Object(
  { idempotencyKey: IdempotencyKey, ...envelopeMembers },
  { additionalProperties: false },
);
export type SubmissionRequest = Static<typeof SubmissionRequest>;

/** The body of `POST /v1/quotes`: a submission's body without its idempotency key. */
export const QuoteRequest = Type.Object(envelopeMembers, { additionalProperties: false });
export type QuoteRequest = Static<typeof QuoteRequest>;

export const QuoteAnswer = Type.Object({
  quote: QuoteFigures,
  sufficient: Type.Boolean(),
  available: Credits,
});
export type QuoteAnswer = Static<typeof QuoteAnswer>;

export const SubmissionCreated = Type.Object({
  submissionId: WireId('sub'),
  status: Type.Literal('dispatched'),
  quote: QuoteFigures,
  balance: Type.Object({ after: Credits, held: Credits }),
  idempotent: Type.Optional(Type.Literal(true)),
});
export type SubmissionCreated = Static<typeof SubmissionCreated>;

export const SubmissionStatus = Type.Enum(wireStatuses);

export const SubmissionFailure = Type.Object({
  code: Type.Enum(failureCodes),
  message: Type.String(),
  retriable: Type.Boolean(),
  outcomeUnknown: Type.Boolean(),
});

export const LateOutcome = Type.Object({
  status: Type.Enum(['submitted', 'failed'], {
    description: 'In `lateOutcome`: the outcome that the node reported.',
  }),
  at: Time,
});

/** The full record of a submission. It never contains the payload. */
export const SubmissionDetail = Type.Object({
  id: WireId('sub'),
  status: SubmissionStatus,
  jobType: Type.String(),
  tier: Tier,
  idempotencyKey: Type.String(),
  quote: QuoteFigures,
  actualCredits: Type.Union([Credits, Type.Null()]),
  refundedCredits: Type.Union([Credits, Type.Null()]),
  /** The usage reported so far, cut to what the run time allows. Empty before the first report. */
  usage: UsageFigures,
  failure: Type.Union([SubmissionFailure, Type.Null()]),
  result: Type.Union([JobResult, Type.Null()]),
  lateOutcome: Type.Union([LateOutcome, Type.Null()]),
  createdAt: Time,
  dispatchedAt: Type.Union([Time, Type.Null()]),
  startedAt: Type.Union([Time, Type.Null()]),
  finishedAt: Type.Union([Time, Type.Null()]),
});
export type SubmissionDetail = Static<typeof SubmissionDetail>;

export const CancelAnswer = Type.Object({
  submissionId: WireId('sub'),
  status: Type.Literal('cancelled'),
  refund: RefundFigures,
});
export type CancelAnswer = Static<typeof CancelAnswer>;

/** The query of `GET /v1/submissions`. `createdAfter` is inclusive, `createdBefore` exclusive. */
export const SubmissionsQuery = Type.Object(
  {
    status: Type.Optional(SubmissionStatus),
    idempotencyKey: Type.Optional(IdempotencyKey),
    createdAfter: Type.Optional(QueryTime),
    createdBefore: Type.Optional(QueryTime),
    ...pageParameters,
  },
  { additionalProperties: false },
);
export type SubmissionsQuery = Static<typeof SubmissionsQuery>;

export const SubmissionPage = PageOf(SubmissionDetail);
export type SubmissionPage = Static<typeof SubmissionPage>;
