import { polledEventAgeMaxMs, polledEventsMax } from '@svc/domain';
import { testAuthor } from '@svc/testkit';
import { afterAll, expect, test } from 'vitest';
import { recordAttempt } from '../deliveries/attempts.ts';
import type { ClaimedAttempt } from '../deliveries/claims.ts';
import { findDelivery, listDeliveries } from '../deliveries/list.ts';
import { redeliver } from '../deliveries/redelivery.ts';
import { countInFlight } from '../operators/status.ts';
import {
  pruneReconcileFailures,
  readDeadLetters,
  recordReconcileFailures,
} from '../reconciling/reconcile-failures.ts';
import { openFixture } from '../store.fixture.ts';
import { changeSettings } from '../tenants/settings.ts';
import { changeEndpoint, createEndpoint, deleteEndpoint, rotateEndpointSecret } from './changes.ts';
import { endpointTools } from './endpoints.fixture.ts';
import { findEndpoint, listEndpoints } from './endpoints.ts';
import { dropUnreadableEvents, findPolledNews, readPolledEvents } from './polled-events.ts';
import { deleteRetiredEndpoints } from './retired.ts';
import { queueEndpointTest } from './test-event.ts';

const fixture = await openFixture();
const { store, database } = fixture;
afterAll(() => fixture.close());

const settingsUrl = 'https://hooks.example.com/settings?token=s';
const url = 'https://hooks.example.com/endpoint?token=e';
const { endpoint, cancelOne, claimAll } = endpointTools(fixture, url);
const secret = 'whsec_Mg==';

const sent = (attempts: readonly ClaimedAttempt[]) =>
  attempts.map(({ url: to, type }) => `${type} ${to}`).toSorted();

function record(attempt: ClaimedAttempt, kind: 'delivered' | 'gone') {
  const answer = { statusCode: 200, durationMs: 1, error: null, responseText: null };
  return recordAttempt(store, { ...attempt, ...answer, verdict: { kind } });
}

const statusesOf = async (tenantId: string) =>
  (await listDeliveries(store, tenantId, { status: null, afterId: null, limit: 50 })).map(
    ({ type, status, endpointId }) =>
      `${type} ${endpointId === null ? 'settings' : 'endpoint'} ${status}`,
  );

const read = (tenantId: string, endpointId: string, after = 0n, limit = 2_000) =>
  readPolledEvents(store, { tenantId, endpointId, after, limit });

test('an event has one delivery for the settings’ URL and one for each endpoint that wants it', async () => {
  const tenantId = await fixture.tenant(1_000, settingsUrl);
  const all = await endpoint(tenantId);
  await endpoint(tenantId, { url: 'https://other.example.com/', events: ['credits.low_balance'] });
  await claimAll(tenantId);
  await cancelOne(tenantId);
  const attempts = await claimAll(tenantId);
  expect(sent(attempts)).toEqual([
    `submission.cancelled ${url}`,
    `submission.cancelled ${settingsUrl}`,
  ]);
  const [one, other] = attempts;
  expect(one?.eventId).toBe(other?.eventId);
  expect(one?.deliveryId).not.toBe(other?.deliveryId);
  const atEndpoint = attempts.find(({ targetId }) => targetId === all);
  expect(atEndpoint?.secrets).toEqual([secret]);
  const record1 = await findDelivery(store, tenantId, atEndpoint?.deliveryId ?? '');
  expect(record1).toMatchObject({ endpointId: all, status: 'pending' });
  const pending = await listDeliveries(store, tenantId, {
    status: 'pending',
    afterId: null,
    limit: 50,
  });
  expect(pending.filter(({ type }) => type === 'submission.cancelled')).toHaveLength(2);
});

test('a delivery to an endpoint stays a dead letter until it has ended, and counts as in flight', async () => {
  const tenantId = await fixture.tenant();
  await endpoint(tenantId);
  await claimAll(tenantId);
  const before = await countInFlight(store);
  await cancelOne(tenantId);
  const after = await countInFlight(store);
  expect(after.deliveriesPending - before.deliveriesPending).toBe(1);
  expect(after.deliveriesDue - before.deliveriesDue).toBe(1);
  const [attempt] = await claimAll(tenantId);
  if (attempt === undefined) throw new Error('the endpoint has no delivery');
  const failure = { subjectId: attempt.deliveryId, kind: 'test', error: new Error('test') };
  await recordReconcileFailures(store, 'webhook', [failure]);
  await pruneReconcileFailures(store, 'webhook');
  expect(await readDeadLetters(store, 10)).toMatchObject({ retrying: 1 });
  await record(attempt, 'delivered');
  await pruneReconcileFailures(store, 'webhook');
  expect(await readDeadLetters(store, 10)).toMatchObject({ retrying: 0 });
});

test('a deliverer of the previous version finds no delivery of an endpoint', async () => {
  const tenantId = await fixture.tenant(1_000, null);
  await endpoint(tenantId);
  await cancelOne(tenantId);
  const rows = await database.query(
    `SELECT 1 FROM deliveries WHERE tenant_id = $1 AND status = 'pending'`,
    [tenantId],
  );
  expect(rows).toEqual([]);
  const ids = await database.query<{ id: string }>(
    'SELECT id FROM deliveries WHERE tenant_id = $1',
    [tenantId],
  );
  expect(ids).toHaveLength(1);
  await expect(
    database.query(`UPDATE deliveries SET status = 'pending' WHERE id = $1`, [ids[0]?.id]),
  ).rejects.toThrow('deliveries_target');
});

test('a sixth endpoint is refused, by the decision and by the database', async () => {
  const tenantId = await fixture.tenant();
  const creations = Array.from({ length: 7 }, () =>
    createEndpoint(store, { tenantId, url, events: null, description: null, secret }, testAuthor),
  );
  const kinds = (await Promise.all(creations)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'created')).toHaveLength(5);
  expect(kinds.filter((kind) => kind === 'limit')).toHaveLength(2);
  await expect(
    database.query(
      `INSERT INTO webhook_endpoints (id, tenant_id, kind, url, secret_sealed, created_at)
       VALUES (gen_random_uuid(), $1, 'push', 'https://x.example', '', svc_now())`,
      [tenantId],
    ),
  ).rejects.toThrow('tenants_webhook_endpoint_count');
  const [first] = await listEndpoints(store, tenantId);
  await deleteEndpoint(store, { tenantId, endpointId: first?.id ?? '' }, testAuthor);
  expect(await endpoint(tenantId)).toBeDefined();
});

test('410 disables only the endpoint that answered it, until its URL is set', async () => {
  const tenantId = await fixture.tenant(1_000, settingsUrl);
  const gone = await endpoint(tenantId);
  const kept = await endpoint(tenantId, { url: 'https://kept.example.com/' });
  await claimAll(tenantId);
  await cancelOne(tenantId);
  const attempts = await claimAll(tenantId);
  const own = attempts.find(({ targetId }) => targetId === gone);
  if (own === undefined) throw new Error('not claimed');
  await cancelOne(tenantId);
  expect(await record(own, 'gone')).toEqual({ status: 'dropped' });
  const at = { tenantId, endpointId: gone };
  expect((await findEndpoint(store, at))?.disabled?.reason).toContain('410');
  expect((await findEndpoint(store, { tenantId, endpointId: kept }))?.disabled).toBeNull();
  expect(sent(await claimAll(tenantId))).toEqual([
    `submission.cancelled ${settingsUrl}`,
    'submission.cancelled https://kept.example.com/',
  ]);
  expect(await redeliver(store, { tenantId, deliveryId: own.deliveryId })).toEqual({
    kind: 'url_missing',
  });
  await changeEndpoint(store, at, { url }, testAuthor);
  expect((await findEndpoint(store, at))?.disabled).toBeNull();
  expect(await redeliver(store, { tenantId, deliveryId: own.deliveryId })).toEqual({
    kind: 'queued',
  });
  const [again] = (await claimAll(tenantId)).filter(({ targetId }) => targetId === gone);
  expect(again).toMatchObject({ deliveryId: own.deliveryId, attemptNumber: 1 });
});

test('a rotated secret overlaps, and at most two sign', async () => {
  const tenantId = await fixture.tenant(1_000, null);
  const endpointId = await endpoint(tenantId);
  const secretsNow = async () => {
    await cancelOne(tenantId);
    const attempts = await claimAll(tenantId);
    for (const attempt of attempts) await record(attempt, 'delivered');
    return attempts.at(-1)?.secrets;
  };
  const rotate = (next: string, overlapMs: number) =>
    rotateEndpointSecret(store, { tenantId, endpointId, secret: next, overlapMs }, testAuthor);
  await rotate('whsec_Mw==', 60_000);
  expect(await secretsNow()).toEqual(['whsec_Mw==', secret]);
  await rotate('whsec_NA==', 60_000);
  expect(await secretsNow()).toEqual(['whsec_NA==', 'whsec_Mw==']);
  await fixture.advance(60_001);
  expect(await secretsNow()).toEqual(['whsec_NA==']);
  await rotate('whsec_NQ==', 0);
  expect(await secretsNow()).toEqual(['whsec_NQ==']);
});

test('settings.changed goes to every destination that was in force before, at the URL that it had', async () => {
  const tenantId = await fixture.tenant(1_000, settingsUrl);
  const first = await endpoint(tenantId);
  expect(sent(await claimAll(tenantId))).toEqual([`settings.changed ${settingsUrl}`]);
  const newUrl = 'https://attacker.example.com/';
  await changeSettings(store, tenantId, { webhookUrl: newUrl }, testAuthor);
  const replaced = await claimAll(tenantId);
  expect(sent(replaced)).toEqual([`settings.changed ${url}`, `settings.changed ${settingsUrl}`]);
  expect(replaced.map(({ secrets }) => secrets)).toEqual(
    expect.arrayContaining([['whsec_MQ=='], [secret]]),
  );
  for (const { body } of replaced) {
    const { data } = JSON.parse(body ?? '');
    expect(data).toMatchObject({ what: 'settings.updated', by: { operator: expect.any(String) } });
    expect(body).not.toMatch(/token|attacker|whsec/);
  }
  await changeEndpoint(store, { tenantId, endpointId: first }, { url: newUrl }, testAuthor);
  const moved = await claimAll(tenantId);
  expect(sent(moved)).toEqual([`settings.changed ${newUrl}`, `settings.changed ${url}`]);
  const former = moved.find((attempt) => attempt.url === url);
  expect(former?.secrets).toEqual([secret]);
  expect(await findDelivery(store, tenantId, former?.deliveryId ?? '')).toMatchObject({
    endpointId: first,
  });
  await deleteEndpoint(store, { tenantId, endpointId: first }, testAuthor);
  expect(sent(await claimAll(tenantId))).toEqual([
    `settings.changed ${newUrl}`,
    `settings.changed ${newUrl}`,
  ]);
  expect(await listEndpoints(store, tenantId)).toEqual([]);
});

test('a deleted endpoint gets nothing more, and is forgotten when its deliveries have ended', async () => {
  const tenantId = await fixture.tenant(1_000, null);
  const endpointId = await endpoint(tenantId);
  await cancelOne(tenantId);
  await deleteEndpoint(store, { tenantId, endpointId }, testAuthor);
  await cancelOne(tenantId);
  const attempts = await claimAll(tenantId);
  expect(sent(attempts)).toEqual([`settings.changed ${url}`]);
  expect(await statusesOf(tenantId)).toEqual([
    'settings.changed endpoint pending',
    'submission.cancelled endpoint dropped',
  ]);
  await fixture.advance(3_600_001);
  expect(await deleteRetiredEndpoints(store, 100)).toBe(0);
  for (const attempt of await claimAll(tenantId)) await record(attempt, 'delivered');
  const left = async () =>
    database.query('SELECT 1 FROM webhook_endpoints WHERE tenant_id = $1', [tenantId]);
  await deleteRetiredEndpoints(store, 100);
  expect(await left()).toEqual([]);
});

test('the endpoints of a tenant share its attempts of the hour', async () => {
  const tenantId = await fixture.tenant(5_000, null);
  await endpoint(tenantId);
  await endpoint(tenantId, { url: 'https://other.example.com/' });
  await claimAll(tenantId);
  for (let index = 0; index < 4; index += 1) await cancelOne(tenantId);
  await database.query(
    `INSERT INTO webhook_caps (tenant_id, attempts_per_hour, hour)
     VALUES ($1, 3, date_trunc('hour', svc_now(), 'UTC'))`,
    [tenantId],
  );
  const claimed = [...(await claimAll(tenantId)), ...(await claimAll(tenantId))];
  expect(claimed).toHaveLength(3);
});

test('a reader gets each event once, oldest first, and nothing is lost behind its position', async () => {
  const tenantId = await fixture.tenant(5_000, null);
  const endpointId = await endpoint(tenantId, { url: null });
  expect(await findPolledNews(store, [{ endpointId, after: 0n }])).toEqual(new Set());
  await cancelOne(tenantId);
  await Promise.all([cancelOne(tenantId), cancelOne(tenantId)]);
  expect(await findPolledNews(store, [{ endpointId, after: 0n }])).toEqual(new Set([endpointId]));
  const first = await read(tenantId, endpointId, 0n, 2);
  if (first.kind !== 'events') throw new Error(first.kind);
  expect(first).toMatchObject({ position: 2n });
  const second = await read(tenantId, endpointId, first.position);
  if (second.kind !== 'events') throw new Error(second.kind);
  expect(
    new Set([...first.events, ...second.events].map(({ deliveryId }) => deliveryId)).size,
  ).toBe(3);
  expect(await read(tenantId, endpointId, second.position)).toEqual({
    kind: 'events',
    events: [],
    position: second.position,
  });
  const foreign = await fixture.tenant();
  expect(await read(foreign, endpointId)).toEqual({ kind: 'not_found' });
  const deliveryId = first.events[0]?.deliveryId ?? '';
  expect(await redeliver(store, { tenantId, deliveryId })).toEqual({ kind: 'queued' });
  const repeated = await read(tenantId, endpointId, second.position);
  expect(repeated).toMatchObject({ events: [{ deliveryId, body: first.events[0]?.body }] });
});

test('events wait for a day, and the oldest go first when there are more than 1,000', async () => {
  const tenantId = await fixture.tenant(5_000, null);
  const endpointId = await endpoint(tenantId, { url: null });
  await cancelOne(tenantId);
  await cancelOne(tenantId);
  const count = async () => {
    const events = await read(tenantId, endpointId);
    return events.kind === 'events' ? events.events.length : -1;
  };
  await database.query(`UPDATE webhook_endpoints SET last_position = $2 WHERE id = $1`, [
    endpointId,
    polledEventsMax + 1,
  ]);
  expect(await count()).toBe(1);
  expect(await dropUnreadableEvents(store, 100)).toBe(1);
  await cancelOne(tenantId);
  await fixture.advance(polledEventAgeMaxMs);
  expect(await count()).toBe(0);
  await dropUnreadableEvents(store, 100);
  expect((await statusesOf(tenantId)).every((status) => status.endsWith('dropped'))).toBe(true);
});

test('a test event goes to one endpoint, at most once a minute', async () => {
  const tenantId = await fixture.tenant(1_000, settingsUrl);
  const endpointId = await endpoint(tenantId, { events: ['submission.completed'] });
  await claimAll(tenantId);
  const at = { tenantId, endpointId, requestId: 'r' };
  expect(await queueEndpointTest(store, at)).toMatchObject({ kind: 'queued', announced: true });
  expect(await queueEndpointTest(store, at)).toMatchObject({ kind: 'too_soon' });
  expect(sent(await claimAll(tenantId))).toEqual([`webhook.test ${url}`]);
  expect(await queueEndpointTest(store, { ...at, tenantId: await fixture.tenant() })).toEqual({
    kind: 'not_found',
  });
});
