import { toWireId } from '@svc/domain';
import { stopDatabaseClock, testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import type { ClaimedAttempt } from '../deliveries/claims.ts';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import { createFixture } from '../store.fixture.ts';
import { rotateTenantSecret } from '../tenants/secrets.ts';
import { changeSettings } from '../tenants/settings.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  type EndpointChange,
  rotateEndpointSecret,
} from './changes.ts';
import { endpointTools } from './endpoints.fixture.ts';
import { findEndpoint, listEndpoints } from './endpoints.ts';
import { deleteRetiredEndpoints } from './retired.ts';
import { queueEndpointTest } from './test-event.ts';

const url = 'https://hooks.example.com/?token=s';
const shownUrl = 'https://hooks.example.com/?…';
const settingsUrl = 'https://settings.example.com/';

/** A store whose clock stands still, and a tenant without a URL in its settings. */
async function createStill(webhookUrl: string | null = null) {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const openedAt = new Date();
  const clockAt = (ms: number) =>
    stopDatabaseClock(database.databaseUrl, new Date(openedAt.getTime() + ms));
  await clockAt(0);
  const tenantId = await fixture.tenant(1_000, webhookUrl);
  const tools = endpointTools(fixture, url);
  const at = (endpointId: string) => ({ tenantId, endpointId });
  return {
    ...fixture,
    ...tools,
    at,
    openedAt,
    clockAt,
    tenantId,
    /** Claims the first attempts of deliveries. Their results are not recorded. */
    claim: async () =>
      (await tools.claimAll(tenantId)).filter(({ attemptNumber }) => attemptNumber === 1),
    change: (endpointId: string, change: EndpointChange) =>
      changeEndpoint(store, at(endpointId), change, testAuthor),
    disable: (endpointId: string) =>
      database.query(
        `UPDATE webhook_endpoints SET disabled_at = svc_now(), disabled_reason = 'gone' WHERE id = $1`,
        [endpointId],
      ),
    entries: (action: string) =>
      database.query(
        'SELECT subject_id AS subject, before, after FROM audit_log WHERE action = $1',
        [action],
      ),
    rowOf: async (endpointId: string) => {
      const [row] = await database.query<Record<string, unknown>>(
        `SELECT secret_version AS version, previous_secret_sealed IS NOT NULL AS "hasPrevious",
           previous_secret_expires_at AS "expiresAt", retired_at AS "retiredAt" FROM webhook_endpoints WHERE id = $1`,
        [endpointId],
      );
      return row;
    },
  };
}

const urls = (attempts: readonly ClaimedAttempt[]) =>
  attempts.map((attempt) => `${attempt.type} ${attempt.url}`).toSorted();

test('an endpoint is read as it was created, oldest first, by its own tenant', async () => {
  const still = await createStill();
  const { store, tenantId, openedAt, at, tenant } = still;
  const id = await still.endpoint(tenantId, { events: ['submission.completed'] });
  const polled = await still.endpoint(tenantId, { url: null });
  const expected = {
    id,
    kind: 'push',
    url,
    events: ['submission.completed'],
    description: null,
    disabled: null,
    createdAt: openedAt,
  };
  expect(await findEndpoint(store, at(id))).toEqual(expected);
  expect(await findEndpoint(store, at(polled))).toEqual({
    ...expected,
    id: polled,
    kind: 'poll',
    url: null,
    events: null,
  });
  const other = await tenant();
  await still.endpoint(other);
  expect(await findEndpoint(store, { tenantId: other, endpointId: id })).toBeNull();
  const ids = (await listEndpoints(store, tenantId)).map((one) => one.id);
  expect(ids).toEqual([id, polled].toSorted());
  await still.disable(id);
  expect((await findEndpoint(store, at(id)))?.disabled).toEqual({ at: openedAt, reason: 'gone' });
  const key = { subject: toWireId('tnt', tenantId), before: null };
  const [created] = await still.entries('endpoint.create');
  expect(created).toEqual({
    ...key,
    after: {
      endpointId: toWireId('whe', id),
      kind: 'push',
      url: shownUrl,
      events: ['submission.completed'],
      description: null,
    },
  });
});

test('a change keeps the members that it leaves out, and an equal one changes nothing', async () => {
  const still = await createStill();
  const { tenantId, entries } = still;
  const id = await still.endpoint(tenantId);
  const other = await still.endpoint(tenantId);
  await still.claim();
  const changes: readonly (readonly [EndpointChange, object])[] = [
    [{ description: 'd' }, { url, events: null, description: 'd' }],
    [{ events: ['webhook.test'] }, { url, events: ['webhook.test'], description: 'd' }],
    [{ url: settingsUrl }, { url: settingsUrl, events: ['webhook.test'], description: 'd' }],
    [
      { events: null, description: null },
      { url: settingsUrl, events: null, description: null },
    ],
  ];
  for (const [change, endpoint] of changes) {
    expect(await still.change(id, change)).toMatchObject({ kind: 'changed', endpoint });
    const again = await still.change(id, change);
    expect(again).toMatchObject({ kind: 'changed', endpoint, deliveryIds: [] });
  }
  const logged = await entries('endpoint.update');
  expect(logged).toHaveLength(changes.length);
  expect(logged[0]).toMatchObject({
    before: { description: null },
    after: { description: 'd', url: shownUrl },
  });
  expect((await findEndpoint(still.store, still.at(other)))?.url).toBe(url);
  for (const unknown of [still.store.newId(), await still.endpoint(await still.tenant())])
    expect(await still.change(unknown, { url })).toEqual({ kind: 'not_found' });
  expect(await still.change(id, { url: null })).toEqual({ kind: 'other_kind' });
  const polled = await still.endpoint(tenantId, { url: null });
  expect(await still.change(polled, { url })).toEqual({ kind: 'other_kind' });
  expect(await still.change(polled, { url: null, description: 'p' })).toMatchObject({
    kind: 'changed',
  });
});

test('a disabled endpoint is enabled by its URL only, without what was written meanwhile', async () => {
  const still = await createStill();
  const { store, tenantId, database } = still;
  const [id, other] = [await still.endpoint(tenantId), await still.endpoint(tenantId)];
  for (const endpointId of [id, other]) {
    await still.cancelOne(tenantId);
    await still.disable(endpointId);
  }
  await still.change(id, { description: 'd' });
  expect((await findEndpoint(store, still.at(id)))?.disabled).not.toBeNull();
  // A transaction that began before the 410 writes a delivery after the first drop.
  const late = await beginOther(still);
  await late.query('SELECT FROM credit_accounts FOR UPDATE');
  const enabled = still.change(id, { url });
  await untilLockWait(still);
  await late.query(
    `UPDATE deliveries SET status = 'queued', finished_at = NULL, next_attempt_at = svc_now() WHERE target_id = $1`,
    [id],
  );
  await late.commit();
  expect(await enabled).toMatchObject({ kind: 'changed', endpoint: { disabled: null } });
  const statuses = await database.query(
    `SELECT status, count(*)::int FROM deliveries
     WHERE target_id = $1 AND type = 'submission.cancelled' GROUP BY 1`,
    [id],
  );
  expect(statuses).toEqual([{ status: 'dropped', count: 1 }]);
  expect((await findEndpoint(store, still.at(other)))?.disabled).not.toBeNull();
});

test('the former URL of an endpoint gets its change with its secrets, if it wants it', async () => {
  const still = await createStill();
  const { store, tenantId, at } = still;
  const id = await still.endpoint(tenantId, { events: ['settings.changed'] });
  const quiet = await still.endpoint(tenantId, { url: settingsUrl, events: ['webhook.test'] });
  await still.claim();
  const rotation = { ...at(id), secret: 'whsec_Mw==', overlapMs: 60_000 };
  await rotateEndpointSecret(store, rotation, testAuthor);
  await still.claim();
  await still.change(id, { url: 'https://new.example.com/' });
  const [former, ...more] = await still.claim();
  expect(more).toEqual([]);
  expect(former).toMatchObject({ url, secrets: ['whsec_Mw==', 'whsec_Mg=='] });
  expect(await still.rowOf(former?.targetId ?? '')).toMatchObject({
    version: 2,
    expiresAt: new Date(still.openedAt.getTime() + 60_000),
    retiredAt: still.openedAt,
  });
  // At the end of the overlap, the former URL gets one secret.
  await still.clockAt(60_000);
  await still.change(id, { url });
  const [second] = await still.claim();
  expect(second).toMatchObject({ url: 'https://new.example.com/', secrets: ['whsec_Mw=='] });
  await still.change(quiet, { url });
  expect(urls(await still.claim())).toEqual([`settings.changed ${url}`]);
  await still.disable(id);
  await still.change(id, { url: settingsUrl });
  expect(await still.claim()).toEqual([]);
});

test('the former URL of the settings gets the change with both of its secrets', async () => {
  const still = await createStill(settingsUrl);
  const { store, tenantId } = still;
  const move = (to: string | null) =>
    changeSettings(store, tenantId, { webhookUrl: to }, testAuthor);
  const rotation = { tenantId, kind: 'webhook', force: true } as const;
  await still.clockAt(1_000);
  await rotateTenantSecret(
    store,
    { ...rotation, secret: 'whsec_Mw==', overlapMs: 60_000 },
    testAuthor,
  );
  await still.claim();
  await move(url);
  const [former, ...more] = await still.claim();
  expect(more).toEqual([]);
  expect(former).toMatchObject({ url: settingsUrl, secrets: ['whsec_Mw==', 'whsec_MQ=='] });
  await still.clockAt(61_000);
  await move(settingsUrl);
  expect(await still.claim()).toMatchObject([{ url, secrets: ['whsec_Mw=='] }]);
  await move(null);
  expect(await still.claim()).toMatchObject([{ url: settingsUrl, secrets: ['whsec_Mw=='] }]);
});

test('a former secret without an end signs for seven days at the former URL', async () => {
  const still = await createStill(settingsUrl);
  const { store, tenantId, database } = still;
  await database.query(
    `UPDATE tenant_secrets SET created_at = created_at - interval '1 day' WHERE kind = 'webhook'`,
  );
  const rotation = {
    tenantId,
    kind: 'webhook',
    secret: 'whsec_Mw==',
    overlapMs: 1,
    force: true,
  } as const;
  await rotateTenantSecret(store, rotation, testAuthor);
  await database.query(`UPDATE tenant_secrets SET expires_at = NULL WHERE kind = 'webhook'`);
  await changeSettings(store, tenantId, { webhookUrl: url }, testAuthor);
  const former = (await still.claim()).find(({ targetId }) => targetId !== null);
  expect(former?.secrets).toEqual(['whsec_Mw==', 'whsec_MQ==']);
  expect(await still.rowOf(former?.targetId ?? '')).toMatchObject({
    expiresAt: new Date(still.openedAt.getTime() + 7 * 86_400_000),
  });
});

test('a deletion retires one endpoint, drops what it waits for, and is notified unless it is polled', async () => {
  const still = await createStill();
  const { store, tenantId, database, at } = still;
  const [id, other] = [
    await still.endpoint(tenantId),
    await still.endpoint(tenantId, { url: settingsUrl }),
  ];
  const polled = await still.endpoint(tenantId, { url: null });
  await still.claim();
  await still.cancelOne(tenantId);
  const remove = (endpointId: string) => deleteEndpoint(store, at(endpointId), testAuthor);
  expect(await remove(polled)).toMatchObject({ kind: 'deleted' });
  expect(await remove(polled)).toEqual({ kind: 'not_found' });
  const ofPolled = 'SELECT type FROM deliveries WHERE target_id = $1 AND status = $2';
  expect(await database.query(ofPolled, [polled, 'waiting'])).toEqual([]);
  expect(await database.query(ofPolled, [polled, 'dropped'])).not.toContainEqual({
    type: 'endpoint.deleted',
  });
  await remove(id);
  expect((await still.rowOf(id))?.['retiredAt']).toEqual(still.openedAt);
  expect((await still.rowOf(other))?.['retiredAt']).toBeNull();
  const attempts = await still.claim();
  expect(attempts.filter(({ targetId }) => targetId === id)).toMatchObject([
    { type: 'settings.changed' },
  ]);
  expect(attempts.filter(({ targetId }) => targetId === other).length).toBe(3);
  const [, logged] = await still.entries('endpoint.delete');
  expect(logged).toMatchObject({
    before: { endpointId: toWireId('whe', id), url: shownUrl },
    after: null,
  });
  expect(
    await deleteEndpoint(store, { ...at(other), tenantId: await still.tenant() }, testAuthor),
  ).toEqual({
    kind: 'not_found',
  });
});

test('a rotation keeps the former secret until its overlap ends, and only that one', async () => {
  const still = await createStill();
  const { store, tenantId, at } = still;
  const [id, other] = [await still.endpoint(tenantId), await still.endpoint(tenantId)];
  const rotate = (secret: string, overlapMs: number, of = at(id)) =>
    rotateEndpointSecret(store, { ...of, secret, overlapMs }, testAuthor);
  expect(await rotate('whsec_Mw==', 1)).toMatchObject({
    kind: 'rotated',
    deliveryIds: { length: 2 },
  });
  const expiresAt = new Date(still.openedAt.getTime() + 1);
  expect(await still.rowOf(id)).toMatchObject({ version: 2, hasPrevious: true, expiresAt });
  expect(await rotate('whsec_NA==', 0)).toMatchObject({ kind: 'rotated' });
  expect(await still.rowOf(id)).toMatchObject({ version: 3, hasPrevious: false, expiresAt: null });
  expect(await still.rowOf(other)).toMatchObject({ version: 1 });
  const foreign = { ...at(id), tenantId: await still.tenant() };
  expect(await rotate('whsec_NA==', 0, foreign)).toEqual({ kind: 'not_found' });
  const named = { endpointId: toWireId('whe', id) };
  expect(await still.entries('endpoint.rotate_secret')).toMatchObject([
    { before: named, after: { ...named, overlapMs: 1 } },
    { before: named, after: { ...named, overlapMs: 0 } },
  ]);
});

test('retired endpoints are deleted after an hour if nothing of them is pending, up to the limit', async () => {
  const still = await createStill();
  const { store, database, tenantId } = still;
  const ids = await Promise.all([1, 2, 3, 4].map(() => still.endpoint(tenantId)));
  const kept = await still.endpoint(tenantId, { url: null });
  await still.cancelOne(tenantId);
  await database.query(`UPDATE webhook_endpoints SET retired_at = svc_now()`);
  const left = async () => (await database.query('SELECT FROM webhook_endpoints')).length;
  await still.clockAt(3_600_001);
  expect(await deleteRetiredEndpoints(store, 10)).toBe(0);
  const end = (targets: readonly string[]) =>
    database.query(
      `UPDATE deliveries SET status = 'dropped', finished_at = svc_now(), next_attempt_at = NULL
       WHERE target_id = ANY($1::uuid[])`,
      [targets],
    );
  await end(ids);
  await still.clockAt(3_600_000);
  expect(await deleteRetiredEndpoints(store, 10)).toBe(0);
  await still.clockAt(3_600_001);
  const lock = await beginOther(still);
  const [, , , last] = ids.toSorted();
  await lock.query('SELECT FROM webhook_endpoints WHERE id = $1 FOR UPDATE', [last]);
  expect([await deleteRetiredEndpoints(store, 2), await left()]).toEqual([2, 3]);
  expect([await deleteRetiredEndpoints(store, 10), await left()]).toEqual([1, 2]);
  await lock.commit();
  expect(await deleteRetiredEndpoints(store, 10)).toBe(1);
  await end([kept]);
  expect([await deleteRetiredEndpoints(store, 10), await left()]).toEqual([1, 0]);
});

test('a test of an endpoint is queued once a minute, unless the clock went back', async () => {
  const still = await createStill();
  const { store, tenantId, at, clockAt, openedAt } = still;
  const [id, other] = [
    await still.endpoint(tenantId),
    await still.endpoint(tenantId, { url: null }),
  ];
  await still.claim();
  const queue = (endpointId = id, of = tenantId) =>
    queueEndpointTest(store, { ...at(endpointId), tenantId: of, requestId: 'r' });
  const first = await queue();
  const [attempt] = await still.claim();
  expect(first).toEqual({ kind: 'queued', deliveryId: attempt?.deliveryId, announced: true });
  const { id: eventId, ...body } = JSON.parse(attempt?.body ?? '{}');
  expect(eventId).toMatch(/^evt_/);
  expect(body).toEqual({ type: 'webhook.test', timestamp: openedAt.toISOString(), data: {} });
  await clockAt(59_999);
  expect(await queue()).toEqual({ kind: 'too_soon', retryInMs: 1 });
  expect(await queue(other)).toMatchObject({ kind: 'queued', announced: false });
  await clockAt(60_000);
  expect(await queue()).toMatchObject({ kind: 'queued' });
  await clockAt(0);
  expect(await queue()).toEqual({ kind: 'too_soon', retryInMs: 60_000 });
  expect(await queue(id, await still.tenant())).toEqual({ kind: 'not_found' });
  await still.disable(id);
  expect(await queue()).toEqual({ kind: 'disabled' });
  await deleteEndpoint(store, at(id), testAuthor);
  expect(await queue()).toEqual({ kind: 'not_found' });
});

test('changes of the endpoints of a tenant wait for one another', async () => {
  const still = await createStill();
  const { store, tenantId, at } = still;
  const id = await still.endpoint(tenantId);
  const wanted = { tenantId, url, events: null, description: null, secret: 'whsec_Mg==' };
  const rotation = { ...at(id), secret: 'whsec_Mw==', overlapMs: 1 };
  const works = [
    () => createEndpoint(store, wanted, testAuthor),
    () => still.change(id, { description: 'd' }),
    () => rotateEndpointSecret(store, rotation, testAuthor),
    () => deleteEndpoint(store, at(id), testAuthor),
  ];
  for (const work of works)
    for (const [table, column] of [
      ['credit_accounts', 'tenant_id'],
      ['tenants', 'id'],
    ]) {
      if (table === 'credit_accounts' && work === works[3]) continue;
      const other = await beginOther(still);
      await other.query(`SELECT FROM ${table} WHERE ${column} = $1 FOR UPDATE`, [tenantId]);
      const done = work();
      await untilLockWait(still);
      await other.commit();
      expect((await done).kind).toMatch(/^(created|changed|rotated|deleted)$/);
    }
});

test.each(['webhook_endpoints', 'audit_log', 'events'])(
  'a change of an endpoint that %s refuses changes nothing',
  async (table) => {
    const still = await createStill();
    const { store, tenantId, at, database } = still;
    const id = await still.endpoint(tenantId);
    await database.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
       CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON ${table} EXECUTE FUNCTION refuse()`,
    );
    const rows = () => database.query('SELECT * FROM webhook_endpoints');
    const before = await rows();
    const wanted = { tenantId, url, events: null, description: null, secret: 'whsec_Mg==' };
    const rotation = { ...at(id), secret: 'whsec_Mw==', overlapMs: 1 };
    for (const work of [
      () => createEndpoint(store, wanted, testAuthor),
      () => still.change(id, { url: settingsUrl }),
      () => rotateEndpointSecret(store, rotation, testAuthor),
      () => deleteEndpoint(store, at(id), testAuthor),
      ...(table === 'audit_log'
        ? []
        : [() => queueEndpointTest(store, { ...at(id), requestId: 'r' })]),
      ...(table === 'webhook_endpoints' ? [() => deleteRetiredEndpoints(store, 1)] : []),
    ])
      await expect(work()).rejects.toThrow('not now');
    expect(await rows()).toEqual(before);
  },
);

test('a test of an endpoint waits for another one, which may have been queued just before', async () => {
  const still = await createStill();
  const id = await still.endpoint(still.tenantId);
  const other = await beginOther(still);
  await other.query('UPDATE webhook_endpoints SET tested_at = svc_now()');
  const queued = queueEndpointTest(still.store, { ...still.at(id), requestId: 'r' });
  await untilLockWait(still);
  await other.commit();
  expect(await queued).toMatchObject({ kind: 'too_soon' });
});

test('a URL of the settings that is new, or was disabled, does not get its own change', async () => {
  const still = await createStill();
  const { store, tenantId, database } = still;
  await still.endpoint(tenantId, { url: 'https://kept.example.com/' });
  const kept = ['settings.changed https://kept.example.com/'];
  await changeSettings(store, tenantId, { webhookUrl: settingsUrl }, testAuthor);
  expect(urls(await still.claim())).toEqual(kept);
  await database.query(
    `UPDATE tenants SET webhook_disabled_at = svc_now(), webhook_disabled_reason = 'gone'`,
  );
  await changeSettings(store, tenantId, { webhookUrl: url }, testAuthor);
  expect(urls(await still.claim())).toEqual(kept);
});
