import { defaultRateCardJson, parseRateCard, type RateJson, rateJsonOf } from '@svc/domain';
import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { insertRateCard } from '../pricing/rate-cards.ts';
import { createFixture } from '../store.fixture.ts';
import { findQuotedCard } from './quoted-card.ts';
import type { Receipt } from './receipts.ts';

const jobType = 'ats.application';

function cardOf(base: number) {
  const [first] = defaultRateCardJson.jobTypes;
  if (first?.tiers.standard === undefined) throw new Error('the default card has no rate');
  const standard = { ...first.tiers.standard, base: String(base) };
  const tiers = { ...first.tiers, standard };
  return parseRateCard(0, { ...defaultRateCardJson, jobTypes: [{ ...first, tiers }] });
}

function rateOf(base: number): RateJson {
  const rate = rateJsonOf(cardOf(base), jobType, 'standard');
  if (rate === undefined) throw new Error('the card has no rate');
  return rate;
}

async function createCards() {
  const { store, tenant, database } = await createFixture();
  const [tenantId, otherId] = [await tenant(), await tenant()];
  const apply = (base: number, owner: string | null) =>
    insertRateCard(store, cardOf(base), owner, testAuthor);
  const versions = {
    default30: await apply(30, null),
    own40: await apply(40, tenantId),
    other50: await apply(50, otherId),
    default60: await apply(60, null),
    own60: await apply(60, tenantId),
    default70: await apply(70, null),
    none: 999,
  };
  const find = (name: keyof typeof versions, change: Partial<Receipt>) =>
    findQuotedCard(store.query, {
      tenantId,
      idempotencyKey: 'k',
      requestHash: '',
      requestId: 'r',
      jobType,
      tier: 'standard',
      estimated: '1',
      max: '1',
      surge: '1',
      availableAfter: '1',
      createdAt: new Date().toISOString(),
      rateCardVersion: versions[name],
      ...change,
    });
  return { versions, find, database };
}

test('the card of a quote is the one of its number, or else the newest with its prices', async () => {
  const { versions, find } = await createCards();
  const rows = [
    ['default30', 30, versions.default30],
    ['none', 40, versions.own40],
    // The prices of another tenant are not known to this one.
    ['none', 50, null],
    ['other50', 50, versions.other50],
    ['default60', 60, versions.default60],
    ['none', 60, versions.own60],
    // Another card has got the number.
    ['default30', 40, versions.own40],
    ['default30', 70, versions.default70],
    ['default30', 80, null],
  ] as const;
  for (const [name, base, version] of rows)
    expect([name, base, await find(name, { rate: rateOf(base) })]).toEqual([name, base, version]);
  const rate = rateOf(30);
  expect(await find('default30', { rate, jobType: 'unknown' })).toBeNull();
  expect(await find('default30', { rate, tier: 'instant' })).toBeNull();
});

test('a quote without prices has the card of its number if that is not younger', async () => {
  const { versions, find, database } = await createCards();
  const [card] = await database.query<{ created_at: Date }>(
    'SELECT created_at FROM rate_cards WHERE version = $1',
    [versions.default30],
  );
  const at = (ms: number) => new Date(Number(card?.created_at) + ms).toISOString();
  expect(await find('default30', { createdAt: at(0) })).toBe(versions.default30);
  expect(await find('default30', { createdAt: at(-1) })).toBeNull();
  expect(await find('none', { createdAt: at(60_000) })).toBeNull();
});
