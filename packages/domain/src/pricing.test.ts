import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { creditsMicrosMax, parseCreditsExact } from './credits.ts';
import { compareDecimals, decimalOf, decimalOfMicros, formatDecimal } from './decimal.ts';
import { cancelCharge, charge, maxCharge, quote, surgeNoneMicros } from './pricing.ts';
import { defaultRateCardJson, findRate, parseRateCard, type Rate } from './rate-card.ts';
import { parseUsage, type Usage } from './usage.ts';

interface PricingCase {
  readonly name: string;
  readonly kind: 'completed' | 'cancelled';
  readonly rate: Record<string, unknown>;
  readonly surge: number;
  readonly usage: Record<string, unknown>;
  readonly charge: number;
  readonly quoteMax: number;
  readonly refund: number;
}

const vectors: { readonly cases: readonly PricingCase[] } = JSON.parse(
  readFileSync(new URL('../vectors/pricing.json', import.meta.url), 'utf8'),
);

const card = parseRateCard(7, defaultRateCardJson);

function micros(amount: number): bigint {
  const parsed = parseCreditsExact(String(amount));
  if (parsed === undefined) throw new Error(`not an amount: ${amount}`);
  return parsed;
}

function rateOf(json: Record<string, unknown>): Rate {
  const oneRate = parseRateCard(1, {
    usdPerCredit: '1',
    jobTypes: [{ jobType: 'x', tiers: { standard: json } }],
  });
  const rate = findRate(oneRate, 'x', 'standard');
  if (rate === undefined) throw new Error('a card without its rate');
  return rate;
}

function usageOf(json: Record<string, unknown>): Usage {
  const usage = parseUsage(json);
  if (usage === undefined) throw new Error('not a usage');
  return usage;
}

function nodeMsOf(usage: Usage): bigint {
  const { nodeSeconds } = usage;
  if (nodeSeconds === undefined) return 0n;
  return nodeSeconds.digits * 10n ** BigInt(3 - nodeSeconds.scale);
}

describe('the vectors', () => {
  test('all vectors are present', () => {
    expect(vectors.cases).toHaveLength(14);
  });

  test.each(vectors.cases)('$name', (example) => {
    const rate = rateOf(example.rate);
    const surgeMicros = micros(example.surge);
    const usage = usageOf(example.usage);
    const charged =
      example.kind === 'completed'
        ? charge(rate, surgeMicros, usage)
        : cancelCharge(rate, surgeMicros, nodeMsOf(usage));
    const maxMicros = maxCharge(rate, surgeMicros);
    expect(charged).toBe(micros(example.charge));
    expect(maxMicros).toBe(micros(example.quoteMax));
    expect(maxMicros - charged).toBe(micros(example.refund));
  });
});

const amounts = fc.bigInt({ min: 0n, max: 10n ** 9n });
const rates: fc.Arbitrary<Rate> = fc
  .record({
    baseMicros: amounts,
    bounds: fc.tuple(amounts, amounts),
    tierMultiplierMicros: fc.bigInt({ min: 1n, max: 10_000_000n }),
    nodeSeconds: amounts,
    actions: amounts,
  })
  .map(({ bounds: [a, b], nodeSeconds, actions, ...rest }) => ({
    ...rest,
    minMicros: a < b ? a : b,
    maxMicros: a < b ? b : a,
    weightsMicros: { nodeSeconds, actions },
  }));
const surges = fc.bigInt({ min: 1_000_000n, max: 3_000_000n });
const decimals = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 15n }), fc.nat({ max: 9 }))
  .map(([digits, scale]) => decimalOf(digits, scale));
const usages = fc.record({ nodeSeconds: decimals, actions: decimals }, { requiredKeys: [] });

describe('properties of every rate', () => {
  test('a charge never exceeds the hold', () => {
    fc.assert(
      fc.property(rates, surges, usages, (rate, surge, usage) => {
        expect(charge(rate, surge, usage) <= maxCharge(rate, surge)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('the charge of a cancel never exceeds the hold, and is zero before begin', () => {
    const runs = fc.bigInt({ min: 0n, max: 10n ** 10n });
    fc.assert(
      fc.property(rates, surges, runs, (rate, surge, nodeMs) => {
        expect(cancelCharge(rate, surge, nodeMs) <= maxCharge(rate, surge)).toBe(true);
        expect(cancelCharge(rate, surge, 0n)).toBe(0n);
      }),
    );
  });

  test('more usage never costs less', () => {
    fc.assert(
      fc.property(rates, surges, decimals, decimals, (rate, surge, a, b) => {
        const [less, more] = compareDecimals(a, b) < 0 ? [a, b] : [b, a];
        const cheap = charge(rate, surge, { nodeSeconds: less });
        expect(cheap <= charge(rate, surge, { nodeSeconds: more })).toBe(true);
      }),
    );
  });

  test('the result is the formula in whole fractions, rounded once', () => {
    fc.assert(
      fc.property(rates, surges, decimals, (rate, surge, nodeSeconds) => {
        // `sum`, `low` and `high` are micros × 10^9, because `decimals` has at most 9 decimals.
        // `exact` is micros × 10^21, because each of its two multipliers has 6 decimals.
        const units = nodeSeconds.digits * 10n ** BigInt(9 - nodeSeconds.scale);
        const weight = rate.weightsMicros.nodeSeconds ?? 0n;
        const sum = rate.baseMicros * 10n ** 9n + weight * units;
        const low = rate.minMicros * 10n ** 9n;
        const high = rate.maxMicros * 10n ** 9n;
        const clamped = sum < low ? low : sum > high ? high : sum;
        const exact = clamped * rate.tierMultiplierMicros * surge;
        const denominator = 10n ** (9n + 6n + 6n);
        const rounded = (2n * exact + denominator) / (2n * denominator);
        expect(charge(rate, surge, { nodeSeconds })).toBe(rounded);
      }),
    );
  });
});

describe('a quote', () => {
  const request = { jobType: 'ats.application', tier: 'standard', surgeMicros: surgeNoneMicros };

  test("is estimated by the card's typical usage until averages are known", () => {
    expect(quote(card, { ...request, tier: 'standard', typicalUsage: null })).toEqual({
      kind: 'quoted',
      estimatedMicros: 42_950_000n,
      maxMicros: 200_000_000n,
      surgeMicros: surgeNoneMicros,
      rateCardVersion: 7,
    });
  });

  test('follows the averages, but never exceeds the worst case', () => {
    const little = quote(card, { ...request, tier: 'priority', typicalUsage: {} });
    expect(little).toMatchObject({ estimatedMicros: 30_000_000n, maxMicros: 300_000_000n });
    const typicalUsage = usageOf({ nodeSeconds: '1e6' });
    const much = quote(card, { ...request, tier: 'instant', typicalUsage });
    expect(much).toMatchObject({ estimatedMicros: 500_000_000n, maxMicros: 500_000_000n });
  });

  test('fails without a rate for the job type or the tier', () => {
    const other = quote(card, { ...request, jobType: 'other', tier: 'standard' });
    expect(other.kind).toBe('quote_failed');
    const empty = parseRateCard(1, {
      usdPerCredit: '1',
      jobTypes: [{ jobType: 'ats.application', tiers: {} }],
    });
    expect(quote(empty, { ...request, tier: 'standard' }).kind).toBe('quote_failed');
  });

  test('fails if the worst case is too large, and not a micro-credit sooner', () => {
    const max = formatDecimal(decimalOfMicros(creditsMicrosMax));
    const rate = { base: '0', min: '0', max, tierMultiplier: '1', weights: {} };
    const dear = parseRateCard(1, {
      usdPerCredit: '1',
      jobTypes: [{ jobType: 'x', tiers: { standard: rate } }],
    });
    const base = { jobType: 'x', tier: 'standard' } as const;
    expect(quote(dear, { ...base, surgeMicros: 1_000_000n }).kind).toBe('quoted');
    expect(quote(dear, { ...base, surgeMicros: 1_000_001n }).kind).toBe('quote_failed');
  });
});

test('negative usage is a defect, not a discount', () => {
  const rate = findRate(card, 'ats.application', 'standard');
  if (rate === undefined) throw new Error('no rate');
  const usage = { nodeSeconds: decimalOf(-1n, 0) };
  expect(() => charge(rate, surgeNoneMicros, usage)).toThrow('never negative');
  expect(() => cancelCharge(rate, surgeNoneMicros, -1n)).toThrow('time of a run is never negative');
});
