import { Type, type Static } from 'typebox';
import { Credits, Tier, UsageFigures } from './common.ts';

const RateFigures = Type.Object({
  base: Credits,
  min: Credits,
  max: Credits,
  tierMultiplier: Type.Number(),
  weights: UsageFigures,
});

/** `GET /v1/rate-card` (SPEC 2.6); `version` is CONTRACT section 5's addition. */
export const RateCardAnswer = Type.Object({
  version: Type.Integer(),
  surgeMultiplier: Type.Number(),
  usdPerCredit: Type.Number(),
  jobTypes: Type.Array(
    Type.Object({
      jobType: Type.String(),
      tiers: Type.Record(Tier, RateFigures),
    }),
  ),
});
export type RateCardAnswer = Static<typeof RateCardAnswer>;
