import {
  creditsToNumber,
  type FailureFacts,
  failureTraits,
  type SubmissionState,
  type Tier,
  toWireId,
  type Usage,
  usageToNumbers,
  wireStatus,
} from '@svc/domain';
import type { SubmissionDetail } from '../api/submissions.ts';

/**
 * A submission as the store returns it. Amounts of credits are in micro-credits. `surgeMicros` is
 * in millionths. `id` is a UUID.
 */
export interface KnownSubmission {
  readonly id: string;
  readonly state: SubmissionState;
  readonly jobType: string;
  readonly tier: Tier;
  readonly idempotencyKey: string;
  readonly quote: {
    readonly estimatedMicros: bigint;
    readonly maxMicros: bigint;
    readonly surgeMicros: bigint;
  };
  readonly chargedMicros: bigint | null;
  readonly refundedMicros: bigint | null;
  readonly usage: Usage;
  readonly failure: (FailureFacts & { readonly message: string }) | null;
  readonly result: unknown;
  readonly lateOutcome: { readonly status: 'submitted' | 'failed'; readonly at: Date } | null;
  readonly createdAt: Date;
  readonly dispatchedAt: Date | null;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

/**
 * A submission as its tenant sees it (CONTRACT 5), without the payload. Undefined if the submission
 * is rejected, because no tenant sees a rejected one.
 */
export function submissionDetail(known: KnownSubmission): SubmissionDetail | undefined {
  const status = wireStatus(known.state);
  return status === null ? undefined : { ...submissionView(known), status };
}

/**
 * Everything of `SubmissionDetail` except the status. Operators also get it for a rejected
 * submission, which has no status on the wire.
 */
export function submissionView(known: KnownSubmission): Omit<SubmissionDetail, 'status'> {
  const { quote, failure, lateOutcome } = known;
  return {
    id: toWireId('sub', known.id),
    jobType: known.jobType,
    tier: known.tier,
    idempotencyKey: known.idempotencyKey,
    quote: {
      estimated: creditsToNumber(quote.estimatedMicros),
      max: creditsToNumber(quote.maxMicros),
      surge: creditsToNumber(quote.surgeMicros),
    },
    actualCredits: orNull(known.chargedMicros, creditsToNumber),
    refundedCredits: orNull(known.refundedMicros, creditsToNumber),
    usage: usageToNumbers(known.usage),
    failure: orNull(failure, (facts) => ({
      code: facts.code,
      message: facts.message,
      ...failureTraits(facts),
    })),
    result: known.result ?? null,
    lateOutcome: orNull(lateOutcome, (late) => ({
      status: late.status,
      at: late.at.toISOString(),
    })),
    createdAt: known.createdAt.toISOString(),
    dispatchedAt: orNull(known.dispatchedAt, (at) => at.toISOString()),
    startedAt: orNull(known.startedAt, (at) => at.toISOString()),
    finishedAt: orNull(known.finishedAt, (at) => at.toISOString()),
  };
}

function orNull<In, Out>(value: In | null, map: (value: In) => Out): Out | null {
  return value === null ? null : map(value);
}
