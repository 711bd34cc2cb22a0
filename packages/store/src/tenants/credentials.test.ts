import { defaultRateCardJson, parseRateCard } from '@svc/domain';
import { testAuthor } from '@svc/testkit';
import { beforeEach, expect, test } from 'vitest';
import { currentRateCard, insertRateCard } from '../pricing/rate-cards.ts';
import { createFixture, type Fixture } from '../store.fixture.ts';
import { findTenantCredentials } from './credentials.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});

const nobody = '019ab000-0000-7000-8000-000000000001';
const together = (tenantIds: readonly string[]) =>
  Promise.allSettled(tenantIds.map((id) => findTenantCredentials(fixture.store, id)));

test('tenants that are read at the same time each get their own credentials', async () => {
  const { store, tenant, database } = fixture;
  const [one, other] = [await tenant(), await tenant()];
  await database.query(`UPDATE tenants SET rate_limit_per_second = 7 WHERE id = $1`, [other]);
  const settled = await together([other, nobody, one, other]);
  const found = settled.map((each) => (each.status === 'fulfilled' ? each.value : each.reason));
  expect(found).toMatchObject([{ tenantId: other, rateLimitPerSecond: 7 }, null, {}, {}]);
  expect(found[2]).toMatchObject({ tenantId: one, disabled: false, hmacSecrets: ['hsk_test_1'] });
  expect(found[3]).toEqual(found[0]);
  expect((await findTenantCredentials(store, one))?.rateLimitPerSecond).not.toBe(7);
});

test('a secret that cannot be unsealed affects only its tenant', async () => {
  const [one, other] = [await fixture.tenant(), await fixture.tenant()];
  await fixture.database.query(
    `UPDATE tenant_secrets SET sealed = set_byte(sealed, length(sealed) - 1, 255 - get_byte(sealed, length(sealed) - 1))
     WHERE tenant_id = $1`,
    [one],
  );
  const [broken, sound] = await together([one, other]);
  expect(broken?.status).toBe('rejected');
  expect(sound).toMatchObject({ status: 'fulfilled', value: { tenantId: other } });
});

test('the rate card is the newest of the tenant, otherwise the newest default', async () => {
  const { store, tenant } = fixture;
  const [one, other] = [await tenant(), await tenant()];
  const versionOf = async (id: string) =>
    (await findTenantCredentials(store, id))?.rateCardVersion ?? null;
  expect(await versionOf(one)).toBe((await currentRateCard(store, one))?.version);
  const card = parseRateCard(0, defaultRateCardJson);
  const own = await insertRateCard(store, card, one, testAuthor);
  const forAll = await insertRateCard(store, card, null, testAuthor);
  expect([await versionOf(one), await versionOf(other)]).toEqual([own, forAll]);
  const newer = await insertRateCard(store, card, one, testAuthor);
  expect(await versionOf(one)).toBe(newer);
});
