import {
  defaultRateCardJson,
  parseRateCard,
  quote,
  type QuoteOutcome,
  type RateCard,
  type Tier,
  type Usage,
} from '@svc/domain';
import type { Clock } from '@svc/runtime';
import { createExpiringCache } from '../expiring-cache.ts';

/** The inputs of prices, cached for at most `typicalUsageTtlMs` and `surgeTtlMs`. */
export interface Pricing {
  /** The rate card of a version. For null, a card of version 0 without prices. */
  rateCard(version: number | null): Promise<RateCard>;
  /** The multiplier in force, in millionths. */
  surgeMicros(): Promise<bigint>;
  /** Prices one job (CONTRACT 4). Returns `quote_failed` if it has no price. */
  quote(
    rateCardVersion: number | null,
    job: { jobType: string; tier: Tier },
  ): Promise<QuoteOutcome>;
}

const typicalUsageTtlMs = 10_000;
const typicalUsagesMax = 100;
const surgeTtlMs = 1_000;

const noRateCard = parseRateCard(0, {
  usdPerCredit: defaultRateCardJson.usdPerCredit,
  jobTypes: [],
});

/** Caches what changes rarely, so that requests do not read it. A rate card version never changes. */
export function createPricing(sources: {
  /** Must be cheap for a version that was loaded before. */
  readonly loadRateCard: (version: number) => Promise<RateCard>;
  readonly loadTypicalUsage: (jobType: string) => Promise<Usage | null>;
  readonly loadSurgeMicros: () => Promise<bigint>;
  readonly clock: Clock;
}): Pricing {
  const { clock } = sources;
  const rateCard = async (version: number | null): Promise<RateCard> =>
    version === null ? noRateCard : await sources.loadRateCard(version);
  const usages = createExpiringCache({
    load: sources.loadTypicalUsage,
    ttlMs: typicalUsageTtlMs,
    entriesMax: typicalUsagesMax,
    clock,
  });
  const surge = createExpiringCache({
    load: sources.loadSurgeMicros,
    ttlMs: surgeTtlMs,
    entriesMax: 1,
    clock,
  });
  return {
    rateCard,
    surgeMicros: () => surge.get(''),
    async quote(rateCardVersion, { jobType, tier }) {
      const [card, typicalUsage, surgeMicros] = await Promise.all([
        rateCard(rateCardVersion),
        usages.get(jobType),
        surge.get(''),
      ]);
      return quote(card, { jobType, tier, surgeMicros, typicalUsage });
    },
  };
}
