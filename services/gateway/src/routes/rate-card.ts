import { NoQuery, type RateCardAnswer, type RateFigures, type UsageFigures } from '@svc/contracts';
import {
  creditsToNumber,
  type JobTypeRates,
  type Rate,
  type RateCard,
  type Tier,
  tiers,
  usageUnits,
} from '@svc/domain';
import type { GatewayDeps } from '../deps.ts';
import { json } from '../http/answer.ts';
import { tenantEndpoint, type TenantEndpoint } from '../http/endpoint.ts';

/** `GET /v1/rate-card` (SPEC 2.6): the tenant's card with the surge in force. */
export function rateCardEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'get',
    path: '/v1/rate-card',
    query: NoQuery,
    async handle({ tenant: { tenantId } }) {
      const [card, surgeMicros] = await Promise.all([
        deps.pricing.rateCard(tenantId),
        deps.pricing.surgeMicros(),
      ]);
      return json(200, rateCardAnswer(card, surgeMicros));
    },
  });
}

/** Typical usage stays inside: it is our estimate and not a price. */
function rateCardAnswer(card: RateCard, surgeMicros: bigint): RateCardAnswer {
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
