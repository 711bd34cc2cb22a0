import {
  creditsToNumber,
  type JobTypeRates,
  type Rate,
  type RateCard,
  type Tier,
  tiers,
  usageUnits,
} from '@svc/domain';
import type { UsageFigures } from '../api/common.ts';
import type { RateCardAnswer, RateFigures } from '../api/rate-card.ts';

/**
 * Makes the answer of `GET /v1/rate-card` (CONTRACT 5). It omits the typical usage, which is an
 * internal estimate and not a price.
 */
export function rateCardAnswer(card: RateCard, surgeMicros: bigint): RateCardAnswer {
  return {
    version: card.version,
    surgeMultiplier: creditsToNumber(surgeMicros),
    usdPerCredit: creditsToNumber(card.usdPerCreditMicros),
    jobTypes: card.jobTypes.map((entry) => ({
      jobType: entry.jobType,
      tiers: tierFigures(entry),
    })),
  };
}

function tierFigures(entry: JobTypeRates): Partial<Record<Tier, RateFigures>> {
  const figures: Partial<Record<Tier, RateFigures>> = {};
  for (const tier of tiers) {
    const rate = entry.tiers[tier];
    if (rate !== undefined) figures[tier] = rateFigures(rate);
  }
  return figures;
}

function rateFigures(rate: Rate): RateFigures {
  const weights: UsageFigures = {};
  for (const unit of usageUnits) {
    const micros = rate.weightsMicros[unit];
    if (micros !== undefined) weights[unit] = creditsToNumber(micros);
  }
  return {
    base: creditsToNumber(rate.baseMicros),
    min: creditsToNumber(rate.minMicros),
    max: creditsToNumber(rate.maxMicros),
    tierMultiplier: creditsToNumber(rate.tierMultiplierMicros),
    weights,
  };
}
