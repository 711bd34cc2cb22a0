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
import { createExpiringCache } from './expiring-cache.ts';

/** What prices are made of, as of a moment ago. */
export interface Pricing {
  /** The card in force for the tenant; where there is none, one of version 0 without prices. */
  rateCard(tenantId: string): Promise<RateCard>;
  /** The multiplier in force, in millionths. */
  surgeMicros(): Promise<bigint>;
  /** Prices one job (CONTRACT section 4); `quote_failed` where there is no price. */
  quote(tenantId: string, job: { jobType: string; tier: Tier }): Promise<QuoteOutcome>;
}

/** A new rate card is in force after this; a quote pins the version it was made with. */
const rateCardTtlMs = 2_000;
const rateCardsMax = 10_000;
const typicalUsageTtlMs = 10_000;
const typicalUsagesMax = 100;
const surgeTtlMs = 1_000;

const noRateCard = parseRateCard(0, {
  usdPerCredit: defaultRateCardJson.usdPerCredit,
  jobTypes: [],
});

/** Reads each of the sources at most once in its time, not once a request. */
export function createPricing(sources: {
  readonly loadRateCard: (tenantId: string) => Promise<RateCard | null>;
  readonly loadTypicalUsage: (jobType: string) => Promise<Usage | null>;
  readonly loadSurgeMicros: () => Promise<bigint>;
  readonly clock: Clock;
}): Pricing {
  const { clock } = sources;
  const cards = createExpiringCache({
    load: async (tenantId) => (await sources.loadRateCard(tenantId)) ?? noRateCard,
    ttlMs: rateCardTtlMs,
    entriesMax: rateCardsMax,
    clock,
  });
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
    rateCard: (tenantId) => cards.get(tenantId),
    surgeMicros: () => surge.get(''),
    async quote(tenantId, { jobType, tier }) {
      const [card, typicalUsage, surgeMicros] = await Promise.all([
        cards.get(tenantId),
        usages.get(jobType),
        surge.get(''),
      ]);
      return quote(card, { jobType, tier, surgeMicros, typicalUsage });
    },
  };
}
