import { defaultRateCardJson, parseRateCard } from '@svc/domain';
import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import { insertRateCard } from '../pricing/rate-cards.ts';
import { createFixture, type Fixture, newSubmission } from '../store.fixture.ts';
import { findTenantCredentials } from '../tenants/credentials.ts';
import { setTenantEnabled } from '../tenants/enable.ts';
import { rotateTenantSecret } from '../tenants/secrets.ts';
import { changeSettings } from '../tenants/settings.ts';
import { holdSubmission, holdSubmissions } from './hold.ts';

const card = parseRateCard(0, defaultRateCardJson);

async function epochOf({ store }: Fixture, tenantId: string): Promise<bigint> {
  return (await findTenantCredentials(store, tenantId))?.accountEpoch ?? -1n;
}

const rotation = { kind: 'hmac', secret: 'hsk_2', overlapMs: 0, force: true } as const;

test.each<[string, (fixture: Fixture, tenantId: string) => Promise<unknown>]>([
  [
    'secret',
    ({ store }, tenantId) => rotateTenantSecret(store, { tenantId, ...rotation }, testAuthor),
  ],
  ['right to use the service', ({ store }, id) => setTenantEnabled(store, id, false, testAuthor)],
  ['rate limit', ({ store }, id) => changeSettings(store, id, { rateLimitBurst: 7 }, testAuthor)],
  ['job types', ({ store }, id) => changeSettings(store, id, { allowedJobTypes: [] }, testAuthor)],
  ['rate card', ({ store }, id) => insertRateCard(store, card, id, testAuthor)],
  ['default rate card', ({ store }) => insertRateCard(store, card, null, testAuthor)],
])('after a change of the %s a hold with the earlier credentials is refused', async (_, change) => {
  const fixture = await createFixture();
  const { store } = fixture;
  const tenantId = await fixture.tenant();
  const accountEpoch = await epochOf(fixture, tenantId);
  const hold = async (epoch: bigint | null) => {
    const submission = await newSubmission(store, tenantId);
    return (await holdSubmission(store, { ...submission, accountEpoch: epoch })).kind;
  };
  expect(await hold(accountEpoch)).toBe('held');
  await change(fixture, tenantId);
  expect(await hold(accountEpoch)).toBe('stale_credentials');
  expect(await hold(await epochOf(fixture, tenantId))).toBe('held');
  expect(await hold(null)).toBe('held');
});

test('settings that a gateway does not cache leave the epoch, and so do other tenants', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const [one, other] = [await fixture.tenant(), await fixture.tenant()];
  const before = await epochOf(fixture, one);
  await changeSettings(store, one, { webhookUrl: 'https://hooks.example.com' }, testAuthor);
  await changeSettings(store, one, { rebateMillionths: 5, rateLimitBurst: 200 }, testAuthor);
  await changeSettings(store, other, { rateLimitBurst: 7 }, testAuthor);
  expect(await epochOf(fixture, one)).toBe(before);
});

test('a stale hold is refused as such even if its key is taken, and costs its batch nothing', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const tenantId = await fixture.tenant(400);
  await fixture.hold(tenantId, { key: 'taken' });
  const accountEpoch = await epochOf(fixture, tenantId);
  const [taken, stale, current] = [
    {
      ...(await newSubmission(store, tenantId, { key: 'taken' })),
      accountEpoch: accountEpoch - 1n,
    },
    { ...(await newSubmission(store, tenantId)), accountEpoch: accountEpoch - 1n },
    { ...(await newSubmission(store, tenantId)), accountEpoch },
  ];
  const outcomes = await holdSubmissions(store, [taken, stale, current]);
  const kinds = outcomes.map(({ kind }) => kind);
  expect(kinds).toEqual(['stale_credentials', 'stale_credentials', 'held']);
  expect(await fixture.figures(tenantId)).toEqual({ balance: 400, held: 400 });
  // Disabling the tenant raises the epoch. `current` was committed before that, so its repeat must
  // still get `held`.
  await setTenantEnabled(store, tenantId, false, testAuthor);
  const repeated = await holdSubmissions(store, [current, stale], 'repeat');
  expect(repeated.map(({ kind }) => kind)).toEqual(['held', 'stale_credentials']);
});

test('a stale hold learns nothing from a current one with the same key in its batch', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const tenantId = await fixture.tenant();
  const accountEpoch = await epochOf(fixture, tenantId);
  const [current, stale] = [
    { ...(await newSubmission(store, tenantId, { key: 'same' })), accountEpoch },
    {
      ...(await newSubmission(store, tenantId, { key: 'same' })),
      accountEpoch: accountEpoch - 1n,
    },
  ];
  const outcomes = await holdSubmissions(store, [current, stale]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['held', 'stale_credentials']);
});

test('a stale hold learns nothing from another stale one with the same key in its batch', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const tenantId = await fixture.tenant();
  await fixture.hold(tenantId, { key: 'same' });
  const accountEpoch = (await epochOf(fixture, tenantId)) - 1n;
  const stale = async () => ({
    ...(await newSubmission(store, tenantId, { key: 'same' })),
    accountEpoch,
  });
  const outcomes = await holdSubmissions(store, [await stale(), await stale()]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['stale_credentials', 'stale_credentials']);
});

test('a hold that waited for a change of the credentials compares them after the wait', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const tenantId = await fixture.tenant();
  const accountEpoch = await epochOf(fixture, tenantId);
  const submission = { ...(await newSubmission(store, tenantId)), accountEpoch };
  const other = await beginOther(fixture);
  await other.query('UPDATE tenants SET rate_limit_burst = 7 WHERE id = $1', [tenantId]);
  const waiting = holdSubmission(store, submission);
  await untilLockWait(fixture);
  await other.commit();
  expect(await waiting).toEqual({ kind: 'stale_credentials' });
});
