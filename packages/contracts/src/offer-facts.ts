import { requestIdLengthMax, tiers, type Tier } from '@svc/domain';
import { Type, type Static } from 'typebox';
import type { OfferedPayload } from './job-types/catalogue.ts';

/**
 * The facts about a submission in an offer (CONTRACT 7, `offer`). They contain no personal data,
 * and do not change after the creation of the submission.
 */
export const OfferFacts = Type.Object(
  {
    jobType: Type.String({ minLength: 1, maxLength: 128 }),
    tier: Type.Enum(tiers),
    targetHost: Type.String({ minLength: 1 }),
    requestId: Type.String({ minLength: 1, maxLength: requestIdLengthMax }),
    /**
     * The `atsType` of the payload, which selects the behaviour of a simulated node. Present only
     * in the sandbox, and only if `atsType` begins with `sandbox.`.
     */
    sandboxBehaviour: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type OfferFacts = Static<typeof OfferFacts>;

const sandboxPrefix = 'sandbox.';

/** Throws if `applicationUrl` is not a URL. A payload that matches its schema always has a URL. */
export function offerFacts(
  submission: { readonly jobType: string; readonly tier: Tier; readonly requestId: string },
  { applicationUrl, atsType }: OfferedPayload,
  { isSandbox }: { readonly isSandbox: boolean },
): OfferFacts {
  const { jobType, tier, requestId } = submission;
  const asksBehaviour = isSandbox && atsType.startsWith(sandboxPrefix);
  return {
    jobType,
    tier,
    targetHost: new URL(applicationUrl).hostname,
    requestId,
    ...(asksBehaviour ? { sandboxBehaviour: atsType } : {}),
  };
}
