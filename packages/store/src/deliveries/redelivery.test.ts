import { toWireId, webhookAgeMaxMs, webhookAttemptsMax, webhookTestIntervalMs } from '@svc/domain';
import { stopDatabaseClock, testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import { claimFor, createFixture, type Fixture } from '../store.fixture.ts';
import { endpointTools } from '../webhook-endpoints/endpoints.fixture.ts';
import { recordAttempt } from './attempts.ts';
import { claimDue } from './claims.ts';
import { attemptClaimMs } from './deliveries.ts';
import { listDeliveries } from './list.ts';
import { queueWebhookTest, redeliver } from './redelivery.ts';

const url = 'https://hooks.example.com/';
const page = { status: null, afterId: null, limit: 1 };

/** A tenant with one delivery, to the URL of its settings or to an endpoint. */
async function oneDelivery(fixture: Fixture, at: 'settings' | 'endpoint') {
  const { store } = fixture;
  const tenantId = await fixture.tenant(1_000, at === 'settings' ? url : null);
  const { endpoint, cancelOne } = endpointTools(fixture, url);
  const targetId = at === 'settings' ? null : await endpoint(tenantId);
  await cancelOne(tenantId);
  const [{ id: deliveryId } = { id: '' }] = await listDeliveries(store, tenantId, page);
  const claim = async (attemptsMax: number) => {
    const [claimed] = await claimDue(store, [{ tenantId, targetId, attemptsMax: 1 }], attemptsMax);
    return claimed?.attempts ?? [];
  };
  return { tenantId, deliveryId, claim };
}

test.each(['settings', 'endpoint'] as const)(
  'a redelivery is sent if the schedule of its %s delivery has become shorter than its attempts',
  async (at) => {
    const fixture = await createFixture();
    const { store } = fixture;
    const { tenantId, deliveryId, claim } = await oneDelivery(fixture, at);
    for (let number = 1; number <= 3; number += 1) {
      const [attempt] = await claim(webhookAttemptsMax);
      if (attempt === undefined) throw new Error('nothing to claim');
      const failed = { statusCode: 500, durationMs: 1, error: null, responseText: null };
      await recordAttempt(store, { ...attempt, ...failed, verdict: { kind: 'retry', delayMs: 1 } });
      await fixture.advance(1_000);
    }
    expect(await redeliver(store, { tenantId, deliveryId })).toEqual({ kind: 'queued' });
    expect(await claim(2)).toMatchObject([{ deliveryId, round: 2, attemptNumber: 1 }]);
  },
);

test.each(['eight attempts', 'two attempts', 'hours'])(
  'a redelivery sends a pending delivery whose %s are used up',
  async (what) => {
    const fixture = await createFixture();
    const { store } = fixture;
    const attemptsMax = what === 'eight attempts' ? webhookAttemptsMax : 2;
    const { tenantId, deliveryId, claim } = await oneDelivery(fixture, 'settings');
    if (what === 'hours') await fixture.advance(webhookAgeMaxMs);
    else
      for (let number = 1; number <= attemptsMax; number += 1) {
        await claim(attemptsMax);
        await fixture.advance(attemptClaimMs);
      }
    expect(await redeliver(store, { tenantId, deliveryId })).toEqual({ kind: 'queued' });
    expect(await claim(attemptsMax)).toMatchObject([{ deliveryId, attemptNumber: 1 }]);
  },
);

const stateOf = async ({ database }: Fixture, deliveryId: string) => {
  const [row] = await database.query(
    `SELECT status, round, attempt_count, finished_at IS NULL AS is_open FROM deliveries WHERE id = $1`,
    [deliveryId],
  );
  return Object.values(row ?? {});
};

const disabled = `webhook_disabled_at = svc_now(), webhook_disabled_reason = 'gone'`;

/** A change, and if the delivery to the settings or to an endpoint is redelivered after it. */
test.each([
  ['nothing', '', true, true],
  [
    'the URL of the settings is missing',
    'UPDATE tenants SET webhook_url = NULL WHERE id = $1',
    false,
    true,
  ],
  [
    'the URL of the settings is disabled',
    `UPDATE tenants SET ${disabled} WHERE id = $1`,
    false,
    true,
  ],
  [
    'the endpoint is disabled',
    `UPDATE webhook_endpoints SET disabled_at = svc_now(), disabled_reason = 'gone' WHERE tenant_id = $1`,
    true,
    false,
  ],
  [
    'the endpoint is retired',
    'UPDATE webhook_endpoints SET retired_at = svc_now() WHERE tenant_id = $1',
    true,
    false,
  ],
])(
  'a redelivery needs the destination of its delivery, if %s (%s)',
  async (_, change, toSettings, toEndpoint) => {
    const fixture = await createFixture();
    const { store, database } = fixture;
    // Another tenant, whose URL of the settings is in the other state.
    await fixture.tenant(0, toSettings ? null : url);
    const tenantId = await fixture.tenant(1_000, url);
    const { endpoint, cancelOne } = endpointTools(fixture, url);
    await endpoint(tenantId);
    await cancelOne(tenantId);
    const deliveries = await listDeliveries(store, tenantId, { ...page, limit: 2 });
    await database.query(
      `UPDATE deliveries SET status = 'exhausted', finished_at = svc_now(), next_attempt_at = NULL`,
    );
    if (change !== '') await database.query(change, [tenantId]);
    for (const { id: deliveryId, endpointId } of deliveries) {
      const isQueued = endpointId === null ? toSettings : toEndpoint;
      expect(await redeliver(store, { tenantId, deliveryId })).toEqual({
        kind: isQueued ? 'queued' : 'url_missing',
      });
      const status = endpointId === null ? 'pending' : 'queued';
      expect(await stateOf(fixture, deliveryId)).toEqual(
        isQueued ? [status, 2, 0, true] : ['exhausted', 1, 0, false],
      );
    }
    expect(deliveries).toHaveLength(2);
  },
);

test('a redelivery changes one delivery of its tenant, and has no entry without an operator', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const { tenantId, deliveryId } = await oneDelivery(fixture, 'settings');
  const other = await oneDelivery(fixture, 'endpoint');
  for (const at of [
    { tenantId: other.tenantId, deliveryId },
    { tenantId, deliveryId: store.newId() },
  ])
    expect(await redeliver(store, at)).toEqual({ kind: 'not_found' });
  expect(await redeliver(store, { tenantId, deliveryId })).toEqual({ kind: 'queued' });
  expect(await stateOf(fixture, deliveryId)).toEqual(['pending', 2, 0, true]);
  expect(await stateOf(fixture, other.deliveryId)).toEqual(['queued', 1, 0, true]);
  const entries = 'SELECT subject_id AS subject, before, after FROM audit_log WHERE action = $1';
  expect(await database.query(entries, ['delivery.redeliver'])).toEqual([]);
  await redeliver(store, { tenantId, deliveryId }, testAuthor);
  expect(await database.query(entries, ['delivery.redeliver'])).toEqual([
    {
      subject: toWireId('dlv', deliveryId),
      before: { status: 'pending' },
      after: { status: 'pending' },
    },
  ]);
});

test('an attempt is in flight until its result is recorded or its claim expires', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const clockAt = await stopClock(fixture);
  const { tenantId, deliveryId, claim } = await oneDelivery(fixture, 'settings');
  const again = async () => (await redeliver(store, { tenantId, deliveryId })).kind;
  const [attempt] = await claim(webhookAttemptsMax);
  if (attempt === undefined) throw new Error('nothing to claim');
  await clockAt(attemptClaimMs - 1);
  expect(await again()).toBe('in_progress');
  await clockAt(attemptClaimMs);
  const other = await oneDelivery(fixture, 'settings');
  await other.claim(webhookAttemptsMax);
  expect(await again()).toBe('queued');
  // The second round has an attempt that is recorded, and the attempt of the first is none of it.
  await claim(webhookAttemptsMax);
  expect(await again()).toBe('in_progress');
  await database.query('UPDATE delivery_attempts SET recorded_at = svc_now() WHERE round = 2');
  await database.query('UPDATE delivery_attempts SET at = svc_now() WHERE round = 1');
  expect(await again()).toBe('queued');
  // Only the last attempt of a round can be in flight.
  await claim(webhookAttemptsMax);
  await database.query('UPDATE deliveries SET attempt_count = 2 WHERE id = $1', [deliveryId]);
  expect(await again()).toBe('queued');
});

/** Stops the clock 1 ms before the end of an hour. The result stops it at a later time. */
async function stopClock({ database }: Fixture): Promise<(ms: number) => Promise<void>> {
  const hourMs = 3_600_000;
  const openedMs = Math.ceil(Date.now() / hourMs) * hourMs - 1;
  const clockAt = (ms: number) => stopDatabaseClock(database.databaseUrl, new Date(openedMs + ms));
  await clockAt(0);
  return clockAt;
}

const spendCap = ({ database }: Fixture) =>
  database.query(
    `INSERT INTO webhook_caps (tenant_id, attempts_per_hour, hour, attempts)
     SELECT id, 1, date_trunc('hour', svc_now(), 'UTC'), 1 FROM tenants`,
  );

test('a spent cap refuses a redelivery, but not that of a polled delivery', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const clockAt = await stopClock(fixture);
  const { tenantId, deliveryId } = await oneDelivery(fixture, 'endpoint');
  const { endpoint, cancelOne } = endpointTools(fixture, url);
  const polledId = await endpoint(tenantId, { url: null });
  await cancelOne(tenantId);
  const [polled] = await database.query<{ id: string }>(
    `SELECT id FROM deliveries WHERE target_id = $1`,
    [polledId],
  );
  await spendCap(fixture);
  const refused = await redeliver(store, { tenantId, deliveryId });
  expect(refused).toEqual({ kind: 'over_cap', retryInMs: 1 });
  expect(await stateOf(fixture, deliveryId)).toEqual(['queued', 1, 0, true]);
  await clockAt(1_000);
  await database.query(
    `UPDATE deliveries SET status = 'delivered', finished_at = svc_now() WHERE id = $1`,
    [polled?.id],
  );
  const kept = 'SELECT id, position FROM deliveries WHERE id <> $1 ORDER BY id';
  const before = await database.query(kept, [polled?.id]);
  const at = { tenantId, deliveryId: polled?.id ?? '' };
  expect(await redeliver(store, at)).toEqual({ kind: 'queued' });
  const [row] = await database.query(
    `SELECT status, round, position, finished_at, round_started_at = svc_now() AS "isNew",
       (SELECT last_position FROM webhook_endpoints WHERE id = $2) AS last FROM deliveries WHERE id = $1`,
    [polled?.id, polledId],
  );
  expect(row).toEqual({
    status: 'waiting',
    round: 1,
    position: '2',
    finished_at: null,
    isNew: true,
    last: '2',
  });
  expect(await database.query(kept, [polled?.id])).toEqual(before);
});

test.each([
  [
    'the deletion of its endpoint',
    'SELECT FROM webhook_endpoints FOR UPDATE',
    // A deletion locks the endpoint before its deliveries.
    'SELECT FROM deliveries FOR UPDATE; UPDATE webhook_endpoints SET retired_at = svc_now()',
    'url_missing',
  ],
  [
    'a claim',
    'UPDATE deliveries SET attempt_count = 1',
    `INSERT INTO delivery_attempts (delivery_id, round, number, at)
     SELECT id, round, attempt_count, svc_now() FROM deliveries`,
    'in_progress',
  ],
])('a redelivery waits for %s that is in progress', async (_, lock, change, kind) => {
  const fixture = await createFixture();
  const { tenantId, deliveryId } = await oneDelivery(fixture, 'endpoint');
  const other = await beginOther(fixture);
  await other.query(lock);
  const redelivered = redeliver(fixture.store, { tenantId, deliveryId });
  await untilLockWait(fixture);
  await other.query(change);
  await other.commit();
  expect(await redelivered).toEqual({ kind });
});

test('a redelivery and a test that Postgres refuses fail as a whole', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const { tenantId, deliveryId } = await oneDelivery(fixture, 'settings');
  await database.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$`,
  );
  const refuse = (table: string) =>
    database.query(
      `CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse()`,
    );
  const before = await stateOf(fixture, deliveryId);
  const polledTenantId = await fixture.tenant(1_000);
  const { endpoint, cancelOne } = endpointTools(fixture, url);
  await endpoint(polledTenantId, { url: null });
  await cancelOne(polledTenantId);
  const [polled] = await listDeliveries(store, polledTenantId, page);
  await refuse('deliveries');
  for (const at of [
    { tenantId, deliveryId },
    { tenantId: polledTenantId, deliveryId: polled?.id ?? '' },
  ])
    await expect(redeliver(store, at)).rejects.toThrow('not now');
  expect(await stateOf(fixture, deliveryId)).toEqual(before);
  const tested = { tenantId, requestId: 'req-1' };
  await expect(queueWebhookTest(store, tested)).rejects.toThrow('not now');
  await database.query('DROP TRIGGER refuse ON deliveries');
  await refuse('audit_log');
  await expect(redeliver(store, { tenantId, deliveryId }, testAuthor)).rejects.toThrow('not now');
  await refuse('tenants');
  await expect(queueWebhookTest(store, tested)).rejects.toThrow('not now');
  const rows = await database.query('SELECT FROM tenants WHERE webhook_tested_at IS NOT NULL');
  expect(rows).toEqual([]);
});

test('a test of the URL is queued once a minute, unless the clock went back', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const clockAt = await stopClock(fixture);
  const [tenantId, other] = [await fixture.tenant(0, url), await fixture.tenant(0, url)];
  const queue = (of = tenantId) => queueWebhookTest(store, { tenantId: of, requestId: 'req-1' });
  const first = await queue();
  expect(first).toMatchObject({ kind: 'queued' });
  const [attempt] = await claimFor(store, tenantId);
  const { id, ...body } = JSON.parse(attempt?.body ?? '{}');
  const [row] = await database.query<{ now: Date }>('SELECT svc_now() AS now');
  const timestamp = row?.now.toISOString();
  expect([id, body]).toEqual([
    expect.stringMatching(/^evt_/),
    { type: 'webhook.test', timestamp, data: {} },
  ]);
  expect(first).toMatchObject({ deliveryId: attempt?.deliveryId });
  await clockAt(webhookTestIntervalMs - 1);
  expect(await queue()).toEqual({ kind: 'too_soon', retryInMs: 1 });
  expect(await queue(other)).toMatchObject({ kind: 'queued' });
  await clockAt(webhookTestIntervalMs);
  expect(await queue()).toMatchObject({ kind: 'queued' });
  await clockAt(-webhookTestIntervalMs);
  expect(await queue()).toEqual({ kind: 'too_soon', retryInMs: webhookTestIntervalMs });
});

test('a test waits for the next hour if the cap is spent, and needs a URL that is in force', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const tenantId = await fixture.tenant(0, url);
  const queue = () => queueWebhookTest(store, { tenantId, requestId: 'req-1' });
  await stopClock(fixture);
  await spendCap(fixture);
  expect(await queue()).toEqual({ kind: 'too_soon', retryInMs: 1 });
  await database.query(`UPDATE tenants SET ${disabled}`);
  expect(await queue()).toEqual({ kind: 'url_missing' });
});

test('a test waits for another one, which may have been queued just before', async () => {
  const fixture = await createFixture();
  const tenantId = await fixture.tenant(0, url);
  const other = await beginOther(fixture);
  await other.query('UPDATE tenants SET webhook_tested_at = svc_now()');
  const queued = queueWebhookTest(fixture.store, { tenantId, requestId: 'req-1' });
  await untilLockWait(fixture);
  await other.commit();
  expect(await queued).toMatchObject({ kind: 'too_soon' });
});
