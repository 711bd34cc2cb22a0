import { expect, test } from 'vitest';
import {
  attemptClaimMs,
  type AttemptVerdict,
  claimAttempts,
  type ClaimedAttempt,
  findDueDeliveries,
  recordAttempt,
} from './deliveries.ts';
import { cancelSubmission } from './endings.ts';
import { setWebhookUrl } from './tenants.ts';
import { createFixture, type Fixture } from './test-fixture.ts';

const url = 'https://hooks.example.com/svc';

/** An event on its way: a cancelled submission of a tenant with a URL. */
async function delivery(fixture: Fixture) {
  const { store, tenant, hold, database } = fixture;
  const tenantId = await tenant(1_000, url);
  const { id: submissionId } = await hold(tenantId);
  const ended = await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
  const [deliveryId] = ended.kind === 'cancelled' ? ended.deliveryIds : [];
  if (deliveryId === undefined) throw new Error('no delivery');
  const status = async () => {
    const [row] = await database.query<{ status: string }>(
      'SELECT status FROM deliveries WHERE id = $1',
      [deliveryId],
    );
    return row?.status;
  };
  return { tenantId, deliveryId, status };
}

async function claimOne(fixture: Fixture, deliveryId: string): Promise<ClaimedAttempt> {
  const [claimed] = await claimAttempts(fixture.store, [deliveryId]);
  if (claimed === undefined) throw new Error('not claimed');
  return claimed;
}

function record(fixture: Fixture, attempt: ClaimedAttempt, verdict: AttemptVerdict, code = 200) {
  return recordAttempt(fixture.store, {
    ...attempt,
    statusCode: code,
    durationMs: 12,
    error: null,
    responseText: 'ok',
    verdict,
  });
}

test('an attempt is claimed and logged once, with the bytes that were stored', async () => {
  const fixture = await createFixture();
  const { deliveryId, status } = await delivery(fixture);
  expect(await findDueDeliveries(fixture.store, 10)).toEqual([deliveryId]);
  const claims = await Promise.all([
    claimAttempts(fixture.store, [deliveryId]),
    claimAttempts(fixture.store, [deliveryId]),
  ]);
  const [claimed] = claims.flat();
  expect(claims.flat()).toHaveLength(1);
  expect(claimed).toMatchObject({ attemptNumber: 1, url, secrets: ['whsec_MQ=='] });
  expect(JSON.parse(claimed?.body ?? '')).toMatchObject({
    type: 'submission.cancelled',
    data: { status: 'cancelled', actualCredits: 0, refundedCredits: 200, by: 'tenant' },
  });
  expect(await findDueDeliveries(fixture.store, 10)).toEqual([]);
  expect(await status()).toBe('pending');
});

test('a delivered one is never due again', async () => {
  const fixture = await createFixture();
  const { deliveryId, status } = await delivery(fixture);
  await record(fixture, await claimOne(fixture, deliveryId), { kind: 'delivered' });
  expect(await status()).toBe('delivered');
  await fixture.advance(attemptClaimMs * 10);
  expect(await findDueDeliveries(fixture.store, 10)).toEqual([]);
});

test('a claim that nobody records is due again as the next attempt', async () => {
  const fixture = await createFixture();
  const { deliveryId, status } = await delivery(fixture);
  const first = await claimOne(fixture, deliveryId);
  await fixture.advance(attemptClaimMs);
  expect(await findDueDeliveries(fixture.store, 10)).toEqual([deliveryId]);
  const second = await claimOne(fixture, deliveryId);
  expect(second.attemptNumber).toBe(2);
  await record(fixture, first, { kind: 'delivered' });
  expect(await status()).toBe('pending');
  await record(fixture, second, { kind: 'delivered' });
  expect(await status()).toBe('delivered');
});

test('a retry is due after its delay', async () => {
  const fixture = await createFixture();
  const { deliveryId } = await delivery(fixture);
  const attempt = await claimOne(fixture, deliveryId);
  await record(fixture, attempt, { kind: 'retry', delayMs: 60_000 }, 500);
  await fixture.advance(59_000);
  expect(await claimAttempts(fixture.store, [deliveryId])).toEqual([]);
  await fixture.advance(1_000);
  expect((await claimOne(fixture, deliveryId)).attemptNumber).toBe(2);
});

test('crashes cannot add a ninth attempt', async () => {
  const fixture = await createFixture();
  const { deliveryId, status } = await delivery(fixture);
  for (let number = 1; number <= 8; number += 1) {
    expect((await claimOne(fixture, deliveryId)).attemptNumber).toBe(number);
    await fixture.advance(attemptClaimMs);
  }
  expect(await claimAttempts(fixture.store, [deliveryId])).toEqual([]);
  expect(await status()).toBe('exhausted');
});

test('410 switches off the URL that answered it and drops what is pending', async () => {
  const fixture = await createFixture();
  const { deliveryId, tenantId, status } = await delivery(fixture);
  const attempt = await claimOne(fixture, deliveryId);
  await record(fixture, attempt, { kind: 'gone' }, 410);
  expect(await status()).toBe('dropped');
  const [tenant] = await fixture.database.query<{ off: boolean }>(
    'SELECT webhook_disabled_at IS NOT NULL AS off FROM tenants WHERE id = $1',
    [tenantId],
  );
  expect(tenant?.off).toBe(true);
});

test('410 of a URL that was replaced meanwhile switches off nothing', async () => {
  const fixture = await createFixture();
  const { deliveryId, tenantId } = await delivery(fixture);
  const attempt = await claimOne(fixture, deliveryId);
  await setWebhookUrl(fixture.store, tenantId, 'https://hooks.example.com/new');
  await record(fixture, attempt, { kind: 'gone' }, 410);
  const [tenant] = await fixture.database.query<{ off: boolean }>(
    'SELECT webhook_disabled_at IS NOT NULL AS off FROM tenants WHERE id = $1',
    [tenantId],
  );
  expect(tenant?.off).toBe(false);
});

test('without a URL an event is written and nothing is ever sent', async () => {
  const { store, tenant, hold, database } = await createFixture();
  const tenantId = await tenant(1_000, null);
  const { id: submissionId } = await hold(tenantId);
  await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
  await setWebhookUrl(store, tenantId, url);
  expect(await database.query('SELECT id FROM events')).toHaveLength(1);
  expect(await findDueDeliveries(store, 10)).toEqual([]);
});

test('clearing the URL drops what is pending', async () => {
  const fixture = await createFixture();
  const { deliveryId, tenantId, status } = await delivery(fixture);
  await setWebhookUrl(fixture.store, tenantId, null);
  expect(await status()).toBe('dropped');
  expect(await claimAttempts(fixture.store, [deliveryId])).toEqual([]);
});
