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

export interface Pricing {
  /** The rate card of a version. For null, a card of version 0 without prices. */
  rateCard(version: number | null): Promise<RateCard>;
  /** The surge multiplier in force, in millionths. */
  surgeMicros(): Promise<bigint>;
  /**
   * Prices one job (CONTRACT 4). Returns `quote_failed` if no rate is in force for the job, or if
   * the maximum price is above `creditsMicrosMax`.
   */
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

/**
 * Caches typical usage and surge, so most requests read no usage from Postgres and no surge from
 * Redis.
 */
export function createPricing(sources: {
  /**
   * Called for each quote, so it must be cheap for a version that was loaded before. It may keep
   * each card in memory, because a version never changes.
   */
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
  const prices = createPrices();
  return {
    rateCard,
    surgeMicros: () => surge.get(''),
    async quote(rateCardVersion, { jobType, tier }) {
      const [card, typicalUsage, surgeMicros] = await Promise.all([
        rateCard(rateCardVersion),
        usages.get(jobType),
        surge.get(''),
      ]);
      return prices.quote(card, { jobType, tier, surgeMicros, typicalUsage });
    },
  };
}

interface PricedJob {
  readonly jobType: string;
  readonly tier: Tier;
  readonly surgeMicros: bigint;
  readonly typicalUsage: Usage | null;
}

/**
 * Keeps the last quote of each card, tier and job type, because the exact decimal arithmetic costs
 * CPU. A card object never changes, so it can be a key.
 */
function createPrices() {
  const pricesOfCards = new WeakMap<
    RateCard,
    Map<string, { job: PricedJob; quoted: QuoteOutcome }>
  >();
  return {
    quote(card: RateCard, job: PricedJob): QuoteOutcome {
      const prices = pricesOfCards.get(card) ?? new Map();
      pricesOfCards.set(card, prices);
      const name = `${job.tier} ${job.jobType}`;
      const last = prices.get(name);
      const isSame =
        last !== undefined &&
        last.job.surgeMicros === job.surgeMicros &&
        last.job.typicalUsage === job.typicalUsage;
      if (isSame) return last.quoted;
      const quoted = quote(card, job);
      prices.set(name, { job, quoted });
      return quoted;
    },
  };
}
