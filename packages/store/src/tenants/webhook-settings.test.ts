import { testAuthor } from '@svc/testkit';
import { beforeEach, expect, test } from 'vitest';
import { recordAttempt } from '../deliveries/attempts.ts';
import { attemptClaimMs } from '../deliveries/deliveries.ts';
import { findDelivery } from '../deliveries/list.ts';
import { queueWebhookTest, redeliver } from '../deliveries/redelivery.ts';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import { claimFor, createFixture, type Fixture } from '../store.fixture.ts';
import { changeSettings } from './settings.ts';

const url = 'https://hooks.example.com/';
let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});

async function testDelivery(tenantId: string): Promise<string> {
  const queued = await queueWebhookTest(fixture.store, { tenantId, requestId: 'req-1' });
  if (queued.kind !== 'queued') throw new Error(queued.kind);
  return queued.deliveryId;
}

const change = (tenantId: string, settings: Parameters<typeof changeSettings>[2]) =>
  changeSettings(fixture.store, tenantId, settings, { ...testAuthor, requestId: 'req-1' });

async function exhaust(tenantId: string): Promise<void> {
  const [attempt] = await claimFor(fixture.store, tenantId);
  if (attempt === undefined) throw new Error('nothing to claim');
  await recordAttempt(fixture.store, {
    ...attempt,
    statusCode: null,
    durationMs: 1,
    error: 'refused',
    responseText: null,
    verdict: { kind: 'exhausted' },
  });
}

test('a threshold that rises above the balance sends one event', async () => {
  const tenantId = await fixture.tenant(500, url);
  const threshold = (credits: number) =>
    change(tenantId, { lowBalanceThresholdMicros: BigInt(credits) * 1_000_000n });
  // Each change sends `settings.changed`. The first sends no `credits.low_balance`, because the
  // default threshold of 1000 was already above the balance.
  expect((await threshold(2_000))?.deliveryIds).toHaveLength(1);
  expect((await threshold(500))?.deliveryIds).toHaveLength(1);
  const overtaking = await threshold(501);
  expect(overtaking?.deliveryIds).toHaveLength(2);
  expect(overtaking?.tenant.lowBalanceThresholdMicros).toBe(501_000_000n);
  expect((await threshold(502))?.deliveryIds).toHaveLength(1);
  const bodies = (await claimFor(fixture.store, tenantId)).map(({ body }) =>
    JSON.parse(body ?? ''),
  );
  expect(bodies.filter(({ type }) => type !== 'settings.changed')).toMatchObject([
    {
      type: 'credits.low_balance',
      data: { balance: 500, available: 500, held: 0, threshold: 501 },
    },
  ]);
});

test('if a threshold and a URL change together, the event goes to the new URL', async () => {
  const tenantId = await fixture.tenant(2_000);
  const lowBalanceThresholdMicros = 3_000_000_000n;
  const changed = await change(tenantId, { webhookUrl: url, lowBalanceThresholdMicros });
  expect(changed?.deliveryIds).toHaveLength(1);
});

test('clearing the URL drops pending deliveries, and events without a URL are never sent', async () => {
  const tenantId = await fixture.tenant(2_000, url);
  const deliveryId = await testDelivery(tenantId);
  expect((await change(tenantId, { webhookUrl: null }))?.tenant.webhookUrl).toBeNull();
  expect(await findDelivery(fixture.store, tenantId, deliveryId)).toMatchObject({
    status: 'dropped',
    nextAttemptAt: null,
  });
  const silent = await change(tenantId, { lowBalanceThresholdMicros: 3_000_000_000n });
  expect(silent?.deliveryIds).toEqual([]);
});

test('settings of an unknown tenant are null', async () => {
  const nobody = '019ab000-0000-7000-8000-000000000001';
  expect(await change(nobody, { webhookUrl: url })).toBeNull();
});

test('a test is sent at most once a minute, and not without a URL', async () => {
  const tenantId = await fixture.tenant(0, url);
  await testDelivery(tenantId);
  await fixture.advance(59_000);
  const { store } = fixture;
  const again = await queueWebhookTest(store, { tenantId, requestId: 'req-2' });
  expect(again.kind).toBe('too_soon');
  await fixture.advance(1_001);
  await testDelivery(tenantId);
  const bare = await fixture.tenant(0);
  const refused = await queueWebhookTest(store, { tenantId: bare, requestId: 'req-3' });
  expect(refused).toEqual({ kind: 'url_missing' });
});

test('two tests at the same time are one test', async () => {
  const tenantId = await fixture.tenant(0, url);
  const outcomes = await Promise.all(
    [1, 2, 3].map(() => queueWebhookTest(fixture.store, { tenantId, requestId: 'req-1' })),
  );
  expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['queued', 'too_soon', 'too_soon']);
});

test('an ended delivery gets a new round under its id, numbered from 1', async () => {
  const tenantId = await fixture.tenant(0, url);
  const deliveryId = await testDelivery(tenantId);
  await exhaust(tenantId);
  expect(await redeliver(fixture.store, { tenantId, deliveryId })).toEqual({ kind: 'queued' });
  expect(await findDelivery(fixture.store, tenantId, deliveryId)).toMatchObject({
    status: 'pending',
    attempts: [],
  });
  const [attempt] = await claimFor(fixture.store, tenantId);
  expect(attempt).toMatchObject({ deliveryId, attemptNumber: 1, round: 2 });
});

test('while an attempt is in flight, a redelivery is refused until the claim expires', async () => {
  const tenantId = await fixture.tenant(0, url);
  const deliveryId = await testDelivery(tenantId);
  const [attempt] = await claimFor(fixture.store, tenantId);
  const again = () => redeliver(fixture.store, { tenantId, deliveryId });
  expect(await again()).toEqual({ kind: 'in_progress' });
  // These changes drop the delivery, but its attempt is still in flight. The redelivery must be
  // refused, because it would send a second attempt at the same time.
  await change(tenantId, { webhookUrl: null });
  await change(tenantId, { webhookUrl: url });
  expect(await again()).toEqual({ kind: 'in_progress' });
  await fixture.advance(attemptClaimMs + 1);
  expect(await again()).toEqual({ kind: 'queued' });
  expect(attempt?.attemptNumber).toBe(1);
});

test('a delivery that waits for its next attempt becomes due at once, in a new round', async () => {
  const tenantId = await fixture.tenant(0, url);
  const deliveryId = await testDelivery(tenantId);
  const [attempt] = await claimFor(fixture.store, tenantId);
  if (attempt === undefined) throw new Error('nothing to claim');
  const failed = { statusCode: 500, durationMs: 1, error: null, responseText: null };
  const verdict = { kind: 'retry', delayMs: 3_600_000 } as const;
  await recordAttempt(fixture.store, { ...attempt, ...failed, verdict });
  expect(await claimFor(fixture.store, tenantId)).toEqual([]);
  expect(await redeliver(fixture.store, { tenantId, deliveryId })).toEqual({ kind: 'queued' });
  const [next] = await claimFor(fixture.store, tenantId);
  expect(next).toMatchObject({ round: 2, attemptNumber: 1 });
});

test('a foreign delivery is unknown, and without a URL there is no redelivery', async () => {
  const tenantId = await fixture.tenant(0, url);
  const deliveryId = await testDelivery(tenantId);
  const stranger = await fixture.tenant(0, url);
  expect(await redeliver(fixture.store, { tenantId: stranger, deliveryId })).toEqual({
    kind: 'not_found',
  });
  await change(tenantId, { webhookUrl: null });
  expect(await redeliver(fixture.store, { tenantId, deliveryId })).toEqual({ kind: 'url_missing' });
});

test('if the URL is disabled at the same time, setting it again sends an event', async () => {
  const tenantId = await fixture.tenant(1_000, url);
  const other = await beginOther(fixture);
  await other.query(
    `UPDATE tenants SET webhook_disabled_at = svc_now(), webhook_disabled_reason = 'gone' WHERE id = $1`,
    [tenantId],
  );
  const changing = change(tenantId, { webhookUrl: url });
  await untilLockWait(fixture);
  await other.commit();
  await changing;
  const events = await fixture.database.query('SELECT type FROM events WHERE tenant_id = $1', [
    tenantId,
  ]);
  expect(events).toEqual([{ type: 'settings.changed' }]);
});

test('a cleared URL is reported even if its pending deliveries cannot be dropped', async () => {
  const tenantId = await fixture.tenant(1_000, url);
  await testDelivery(tenantId);
  await fixture.database.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION 'refused'; END $$;
     CREATE TRIGGER refuse BEFORE UPDATE ON deliveries FOR EACH ROW
       WHEN (NEW.status = 'dropped') EXECUTE FUNCTION refuse()`,
  );
  const changed = await change(tenantId, { webhookUrl: null });
  expect(changed).toMatchObject({ tenant: { webhookUrl: null }, deliveryIds: [expect.anything()] });
});
