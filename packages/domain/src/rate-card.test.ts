import { describe, expect, test } from 'vitest';
import {
  defaultRateCardJson,
  findRate,
  isTier,
  parseRateCard,
  RateCardError,
  rateCardToJson,
  tiers,
} from './rate-card.ts';

const [ats] = defaultRateCardJson.jobTypes;
const standard = ats?.tiers.standard;

function cardWith(changes: Record<string, unknown>): unknown {
  return {
    usdPerCredit: '0.01',
    jobTypes: [{ jobType: 'ats.application', tiers: { standard: { ...standard, ...changes } } }],
  };
}

describe('the default card', () => {
  test('is the one of CONTRACT 4', () => {
    const card = parseRateCard(1, defaultRateCardJson);
    expect(card.usdPerCreditMicros).toBe(10_000n);
    const multipliers = tiers.map((tier) => findRate(card, 'ats.application', tier));
    expect(multipliers.map((rate) => rate?.tierMultiplierMicros)).toEqual([
      1_000_000n,
      1_500_000n,
      2_500_000n,
    ]);
    for (const rate of multipliers) {
      expect(rate).toMatchObject({
        baseMicros: 20_000_000n,
        minMicros: 10_000_000n,
        maxMicros: 200_000_000n,
        weightsMicros: {
          nodeSeconds: 500_000n,
          cpuSeconds: 200_000n,
          memoryGbSeconds: 50_000n,
          bandwidthMb: 100_000n,
          actions: 500_000n,
        },
      });
    }
  });

  test('is stored and read back unchanged', () => {
    expect(rateCardToJson(parseRateCard(1, defaultRateCardJson))).toEqual(defaultRateCardJson);
  });
});

test('a card may use JSON numbers, as in GET /v1/rate-card', () => {
  const numbers = { ...standard, base: 0.1, weights: { nodeSeconds: 0.000001 } };
  const card = parseRateCard(3, {
    version: 2,
    surgeMultiplier: 1.25,
    usdPerCredit: 0.01,
    jobTypes: [{ jobType: 'x.y', tiers: { instant: numbers } }],
  });
  expect(card.version).toBe(3);
  expect(findRate(card, 'x.y', 'instant')).toMatchObject({
    baseMicros: 100_000n,
    weightsMicros: { nodeSeconds: 1n },
  });
  expect(findRate(card, 'x.y', 'standard')).toBeUndefined();
  expect(findRate(card, 'other', 'instant')).toBeUndefined();
});

test.each([
  ['no object', [], 'rateCard must be an object'],
  ['no job types', { usdPerCredit: '1' }, 'jobTypes must be an array'],
  ['no fiat rate', { jobTypes: [] }, 'usdPerCredit'],
  ['a fiat rate of zero', { jobTypes: [], usdPerCredit: '0' }, 'must be greater than 0'],
  ['a negative amount', cardWith({ base: '-1' }), 'tiers.standard.base'],
  ['seven decimals', cardWith({ base: '0.0000001' }), 'tiers.standard.base'],
  ['an amount too large', cardWith({ max: '1000000000' }), 'tiers.standard.max'],
  ['a double that is not exact', cardWith({ base: 0.1 + 0.2 }), 'tiers.standard.base'],
  ['a minimum over the maximum', cardWith({ min: '201' }), 'min must not be greater'],
  ['a multiplier of zero', cardWith({ tierMultiplier: '0' }), 'must be greater than 0'],
  ['a misspelt member', cardWith({ minimum: '1' }), 'tiers.standard.minimum is not known'],
  ['an unknown unit', cardWith({ weights: { gpuSeconds: '1' } }), 'weights.gpuSeconds'],
  ['no weights', cardWith({ weights: undefined }), 'weights must be an object'],
  [
    'an unknown tier',
    { usdPerCredit: '1', jobTypes: [{ jobType: 'a', tiers: { premium: standard } }] },
    'tiers.premium is not known',
  ],
  [
    'a job type twice',
    {
      usdPerCredit: '1',
      jobTypes: [
        { jobType: 'a', tiers: {} },
        { jobType: 'a', tiers: {} },
      ],
    },
    'twice',
  ],
  [
    'typical usage that is none',
    { usdPerCredit: '1', jobTypes: [{ jobType: 'a', tiers: {}, typicalUsage: { x: '1' } }] },
    'typicalUsage',
  ],
])('an invalid card is refused with the place of the fault: %s', (_name, json, message) => {
  expect(() => parseRateCard(1, json)).toThrow(RateCardError);
  expect(() => parseRateCard(1, json)).toThrow(message);
});

test('a tier is one of three names', () => {
  expect(tiers.filter(isTier)).toStrictEqual(['standard', 'priority', 'instant']);
  expect(isTier('Standard')).toBe(false);
});
