import type { MakeOffer } from '@svc/contracts';
import { runLimitMs } from '@svc/domain';
import type { DispatchableSubmission } from '@svc/store';

const sandboxPrefix = 'sandbox.';

/** What a node is told of a submission before it has it (CONTRACT section 7). */
export type OfferTerms = Pick<
  MakeOffer,
  | 'submissionId'
  | 'jobType'
  | 'tier'
  | 'targetHost'
  | 'maxNodeSeconds'
  | 'requestId'
  | 'sandboxBehaviour'
>;

/**
 * The terms of a submission's offers. No personal data: of the payload, only the host of its
 * `applicationUrl`, and in the sandbox an `atsType` that asks simulated nodes for a behaviour,
 * without which they could not decline `sandbox.decline`.
 */
export function offerTerms(
  submission: DispatchableSubmission,
  { isSandbox }: { readonly isSandbox: boolean },
): OfferTerms {
  const payload: { applicationUrl: string; atsType: string } = JSON.parse(submission.payloadText);
  const asksBehaviour = isSandbox && payload.atsType.startsWith(sandboxPrefix);
  return {
    submissionId: submission.id,
    jobType: submission.jobType,
    tier: submission.tier,
    targetHost: new URL(payload.applicationUrl).hostname,
    maxNodeSeconds: runLimitMs[submission.tier] / 1000,
    requestId: submission.requestId,
    ...(asksBehaviour ? { sandboxBehaviour: payload.atsType } : {}),
  };
}
