import type { SubmissionDetail } from '@svc/contracts';
import { creditsToNumber, failureTraits, toWireId, usageToNumbers, wireStatus } from '@svc/domain';
import type { SubmissionRecord } from '@svc/store';

/**
 * A submission as its tenant sees it (CONTRACT section 5); undefined where it is none for a
 * tenant. The payload is never echoed.
 */
export function submissionDetail(record: SubmissionRecord): SubmissionDetail | undefined {
  const status = wireStatus(record.state);
  if (status === null) return undefined;
  const { quote, failure, lateOutcome } = record;
  return {
    id: toWireId('sub', record.id),
    status,
    jobType: record.jobType,
    tier: record.tier,
    idempotencyKey: record.idempotencyKey,
    quote: {
      estimated: creditsToNumber(quote.estimatedMicros),
      max: creditsToNumber(quote.maxMicros),
      surge: creditsToNumber(quote.surgeMicros),
    },
    actualCredits: orNull(record.chargedMicros, creditsToNumber),
    refundedCredits: orNull(record.refundedMicros, creditsToNumber),
    usage: usageToNumbers(record.usage),
    failure: orNull(failure, ({ code, message, begun }) => ({
      code,
      message,
      ...failureTraits(code, begun),
    })),
    result: record.result ?? null,
    lateOutcome: orNull(lateOutcome, (late) => ({
      status: late.status,
      at: late.at.toISOString(),
    })),
    createdAt: record.createdAt.toISOString(),
    dispatchedAt: orNull(record.dispatchedAt, (at) => at.toISOString()),
    startedAt: orNull(record.startedAt, (at) => at.toISOString()),
    finishedAt: orNull(record.finishedAt, (at) => at.toISOString()),
  };
}

function orNull<In, Out>(value: In | null, map: (value: In) => Out): Out | null {
  return value === null ? null : map(value);
}
