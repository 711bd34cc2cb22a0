import { formatCredits, parseCreditsExact } from './credits.ts';
import { parseUsage, type Usage, usageToJson, type UsageUnit, usageUnits } from './usage.ts';

/**
 * The tiers, from the lowest to the highest. In the default rate card (CONTRACT 4), a higher tier
 * costs more.
 */
export const tiers = ['standard', 'priority', 'instant'] as const;
export type Tier = (typeof tiers)[number];
export const tierDefault: Tier = 'standard';

export function isTier(name: string): name is Tier {
  return (tiers as readonly string[]).includes(name);
}

/**
 * The price of one job type in one tier. Amounts are in micro-credits, and each weight is an amount
 * per unit of usage. `tierMultiplierMicros` is in millionths.
 */
export interface Rate {
  readonly baseMicros: bigint;
  readonly minMicros: bigint;
  readonly maxMicros: bigint;
  readonly tierMultiplierMicros: bigint;
  readonly weightsMicros: Partial<Record<UsageUnit, bigint>>;
}

export interface JobTypeRates {
  readonly jobType: string;
  readonly tiers: Partial<Record<Tier, Rate>>;
  readonly typicalUsage: Usage;
}

/**
 * One version of the rate card. A version is never edited, and a submission keeps the version of
 * its quote.
 */
export interface RateCard {
  readonly version: number;
  readonly usdPerCreditMicros: bigint;
  readonly jobTypes: readonly JobTypeRates[];
}

export interface RateJson {
  readonly base: string;
  readonly min: string;
  readonly max: string;
  readonly tierMultiplier: string;
  readonly weights: Partial<Record<UsageUnit, string>>;
}

/** The stored form of a card, without its version. Every amount is a decimal string. */
export interface RateCardJson {
  readonly usdPerCredit: string;
  readonly jobTypes: readonly {
    readonly jobType: string;
    readonly tiers: Partial<Record<Tier, RateJson>>;
    readonly typicalUsage: Partial<Record<UsageUnit, string>>;
  }[];
}

/** Thrown if a rate card is invalid. The message names the place and the fault. */
export class RateCardError extends Error {
  override readonly name = 'RateCardError';
}

type JsonObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function requireObject(value: unknown, path: string): JsonObject {
  if (!isObject(value)) throw new RateCardError(`${path} must be an object.`);
  return value;
}

function requireAmount(value: unknown, path: string): bigint {
  // An amount may be a JSON number. `String` writes a number of up to 15 digits exactly, and a
  // valid amount needs no more digits.
  const isText = typeof value === 'string' || typeof value === 'number';
  const micros = isText ? parseCreditsExact(String(value)) : undefined;
  if (micros === undefined) {
    throw new RateCardError(
      `${path} must be a number from 0 to less than 10^9 with at most six decimals.`,
    );
  }
  return micros;
}

function requirePositive(value: unknown, path: string): bigint {
  const micros = requireAmount(value, path);
  if (micros === 0n) throw new RateCardError(`${path} must be greater than 0.`);
  return micros;
}

/**
 * Throws RateCardError for an unknown member. Otherwise a misspelt member would be ignored: a usage
 * unit would be free of charge, or a tier unavailable.
 */
function refuseUnknown(object: JsonObject, known: readonly string[], path: string): void {
  for (const name of Object.keys(object)) {
    if (!known.includes(name)) throw new RateCardError(`${path}.${name} is not known.`);
  }
}

function parseWeights(value: unknown, path: string): Partial<Record<UsageUnit, bigint>> {
  const object = requireObject(value, path);
  refuseUnknown(object, usageUnits, path);
  const weights: Partial<Record<UsageUnit, bigint>> = {};
  for (const unit of usageUnits) {
    if (object[unit] !== undefined) weights[unit] = requireAmount(object[unit], `${path}.${unit}`);
  }
  return weights;
}

function parseRate(value: unknown, path: string): Rate {
  const object = requireObject(value, path);
  refuseUnknown(object, ['base', 'min', 'max', 'tierMultiplier', 'weights'], path);
  const rate: Rate = {
    baseMicros: requireAmount(object['base'], `${path}.base`),
    minMicros: requireAmount(object['min'], `${path}.min`),
    maxMicros: requireAmount(object['max'], `${path}.max`),
    tierMultiplierMicros: requirePositive(object['tierMultiplier'], `${path}.tierMultiplier`),
    weightsMicros: parseWeights(object['weights'], `${path}.weights`),
  };
  if (rate.minMicros > rate.maxMicros)
    throw new RateCardError(`${path}.min must not be greater than max.`);
  return rate;
}

function parseJobType(value: unknown, path: string): JobTypeRates {
  const object = requireObject(value, path);
  refuseUnknown(object, ['jobType', 'tiers', 'typicalUsage'], path);
  const jobType = object['jobType'];
  if (typeof jobType !== 'string' || jobType === '') {
    throw new RateCardError(`${path}.jobType must be a non-empty string.`);
  }
  const tiersJson = requireObject(object['tiers'], `${path}.tiers`);
  refuseUnknown(tiersJson, tiers, `${path}.tiers`);
  const rates: Partial<Record<Tier, Rate>> = {};
  for (const tier of tiers) {
    const rateJson = tiersJson[tier];
    if (rateJson !== undefined) rates[tier] = parseRate(rateJson, `${path}.tiers.${tier}`);
  }
  const typicalUsage = parseUsage(object['typicalUsage'] ?? {});
  if (typicalUsage === undefined) {
    throw new RateCardError(
      `${path}.typicalUsage must have only known units, each with an amount of 0 or more.`,
    );
  }
  return { jobType, tiers: rates, typicalUsage };
}

/**
 * Parses a stored card or one from `GET /v1/rate-card`, whose `surgeMultiplier` and `version` are
 * ignored. Throws RateCardError if the card is invalid.
 */
export function parseRateCard(version: number, json: unknown): RateCard {
  const object = requireObject(json, 'rateCard');
  refuseUnknown(object, ['usdPerCredit', 'jobTypes', 'surgeMultiplier', 'version'], 'rateCard');
  const entries = object['jobTypes'];
  if (!Array.isArray(entries)) throw new RateCardError('rateCard.jobTypes must be an array.');
  const jobTypes = entries.map((entry, index) => parseJobType(entry, `rateCard.jobTypes.${index}`));
  if (new Set(jobTypes.map((entry) => entry.jobType)).size < jobTypes.length) {
    throw new RateCardError('rateCard.jobTypes names a job type twice.');
  }
  return {
    version,
    usdPerCreditMicros: requirePositive(object['usdPerCredit'], 'rateCard.usdPerCredit'),
    jobTypes,
  };
}

function rateToJson(rate: Rate): RateJson {
  const weights: Partial<Record<UsageUnit, string>> = {};
  for (const unit of usageUnits) {
    const weightMicros = rate.weightsMicros[unit];
    if (weightMicros !== undefined) weights[unit] = formatCredits(weightMicros);
  }
  return {
    base: formatCredits(rate.baseMicros),
    min: formatCredits(rate.minMicros),
    max: formatCredits(rate.maxMicros),
    tierMultiplier: formatCredits(rate.tierMultiplierMicros),
    weights,
  };
}

export function rateCardToJson(card: RateCard): RateCardJson {
  return {
    usdPerCredit: formatCredits(card.usdPerCreditMicros),
    jobTypes: card.jobTypes.map((entry) => {
      const tiersJson: Partial<Record<Tier, RateJson>> = {};
      for (const tier of tiers) {
        const rate = entry.tiers[tier];
        if (rate !== undefined) tiersJson[tier] = rateToJson(rate);
      }
      return {
        jobType: entry.jobType,
        tiers: tiersJson,
        typicalUsage: usageToJson(entry.typicalUsage),
      };
    }),
  };
}

export function findRate(card: RateCard, jobType: string, tier: Tier): Rate | undefined {
  return card.jobTypes.find((entry) => entry.jobType === jobType)?.tiers[tier];
}

/** The rate as `rateCardToJson` writes it. Undefined if the card has no such rate. */
export function rateJsonOf(card: RateCard, jobType: string, tier: Tier): RateJson | undefined {
  const rate = findRate(card, jobType, tier);
  return rate === undefined ? undefined : rateToJson(rate);
}

const defaultRate: RateJson = {
  base: '20',
  min: '10',
  max: '200',
  tierMultiplier: '1',
  weights: {
    nodeSeconds: '0.5',
    cpuSeconds: '0.2',
    memoryGbSeconds: '0.05',
    bandwidthMb: '0.1',
    actions: '0.5',
  },
};

/** The initial card of a new environment (CONTRACT 4). */
export const defaultRateCardJson: RateCardJson = {
  usdPerCredit: '0.01',
  jobTypes: [
    {
      jobType: 'ats.application',
      tiers: {
        standard: defaultRate,
        priority: { ...defaultRate, tierMultiplier: '1.5' },
        instant: { ...defaultRate, tierMultiplier: '2.5' },
      },
      typicalUsage: {
        nodeSeconds: '30',
        cpuSeconds: '10',
        memoryGbSeconds: '15',
        bandwidthMb: '12',
        actions: '8',
      },
    },
  ],
};
