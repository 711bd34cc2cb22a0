import { Type, type Static } from 'typebox';
import { Credits, UsageFigures } from './common.ts';

export const RateFigures = Type.Object({
  base: Credits,
  min: Credits,
  max: Credits,
  tierMultiplier: Type.Number(),
  weights: UsageFigures,
});
export type RateFigures = Static<typeof RateFigures>;

/** The answer of `GET /v1/rate-card` (CONTRACT 5). */
export const RateCardAnswer = Type.Object({
  version: Type.Integer(),
  surgeMultiplier: Type.Number(),
  usdPerCredit: Type.Number(),
  jobTypes: Type.Array(
    Type.Object({
      jobType: Type.String(),
      tiers: Type.Partial(
        Type.Object({ standard: RateFigures, priority: RateFigures, instant: RateFigures }),
      ),
    }),
  ),
});
export type RateCardAnswer = Static<typeof RateCardAnswer>;
