import { requestIdLengthMax, tiers, type Tier } from '@svc/domain';
import { Type, type Static } from 'typebox';
import type { OfferedPayload } from './job-types/catalogue.ts';

/**
 * What an offer says of a submission (CONTRACT 7, `offer`): true from its creation on and
 * for good. No personal data: of the payload only the host of its `applicationUrl`, and in the
 * sandbox an `atsType` that asks simulated nodes for a behaviour, without which they could not
 * decline `sandbox.decline`.
 */
export const OfferFacts = Type.Object(
  {
    jobType: Type.String({ minLength: 1, maxLength: 128 }),
    tier: Type.Enum(tiers),
    targetHost: Type.String({ minLength: 1 }),
    requestId: Type.String({ minLength: 1, maxLength: requestIdLengthMax }),
    sandboxBehaviour: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type OfferFacts = Static<typeof OfferFacts>;

const sandboxPrefix = 'sandbox.';

/** Throws where `applicationUrl` is none, which no checked payload has. */
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
