import { randomBytes } from 'node:crypto';
import { createSealer, openKeyring } from '@svc/signing';
import { testAuthor, waitUntil } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { loadForDispatch } from '../assignments/dispatch.ts';
import type { Store } from '../connection/store.ts';
import { findDelivery } from '../deliveries/list.ts';
import { rotateNodeSecret } from '../nodes/changes.ts';
import { findNodeCredentials } from '../nodes/credentials.ts';
import { assertReady, openReadyStore } from '../schema/environment.ts';
import { migrate } from '../schema/migrate.ts';
import { createFixture, type Fixture } from '../store.fixture.ts';
import { findTenantCredentials } from '../tenants/credentials.ts';
import { resealPage, sealedColumns } from './reseal.ts';
import { environmentPlace, responsePlace } from './sealed.ts';
import { beginReseal, endReseal, readEnvironment } from './sealing-phase.ts';

const elsewhere = 'cannot be decrypted';

test('a secret does not open for another tenant or as another kind', async () => {
  const { store, tenant, database } = await createFixture();
  const [victim, insider, other] = [await tenant(), await tenant(), await tenant()];
  await database.query(
    `UPDATE tenant_secrets SET tenant_id = CASE tenant_id WHEN $1 THEN $2::uuid ELSE $1 END
     WHERE tenant_id IN ($1::uuid, $2) AND kind = 'hmac'`,
    [victim, insider],
  );
  await expect(findTenantCredentials(store, insider)).rejects.toThrow(elsewhere);
  await database.query(
    `UPDATE tenant_secrets SET kind = 'hmac' WHERE tenant_id = $1 AND kind = 'webhook'`,
    [other],
  );
  await expect(findTenantCredentials(store, other)).rejects.toThrow(elsewhere);
});

test('a payload does not open for another tenant or as another job type', async () => {
  const { store, tenant, hold, database } = await createFixture();
  const { id } = await hold(await tenant());
  await database.query('UPDATE submissions SET tenant_id = $2 WHERE id = $1', [id, await tenant()]);
  await expect(loadForDispatch(store, [id])).rejects.toThrow(elsewhere);
  const { id: other } = await hold(await tenant());
  await database.query(`UPDATE submissions SET job_type = 'custom' WHERE id = $1`, [other]);
  await expect(loadForDispatch(store, [other])).rejects.toThrow(elsewhere);
});

test('the response to a webhook does not open for another tenant', async () => {
  const { store, tenant, database } = await createFixture();
  const [tenantId, deliveryId] = [await tenant(), store.newId()];
  const place = responsePlace({ tenantId, deliveryId, round: 1, number: 1 });
  await database.query(
    `INSERT INTO deliveries (id, tenant_id, event_id, type, status, created_at, round_started_at)
     VALUES ($1, $2, $1, 'test', 'delivered', svc_now(), svc_now())`,
    [deliveryId, tenantId],
  );
  await database.query(
    `INSERT INTO delivery_attempts (delivery_id, round, number, at, recorded_at, response_sealed)
     VALUES ($1, 1, 1, svc_now(), svc_now(), $2)`,
    [deliveryId, Buffer.from(store.sealer.seal(place, 'ours'))],
  );
  expect((await findDelivery(store, null, deliveryId))?.attempts[0]?.response).toBe('ours');
  await database.query('UPDATE deliveries SET tenant_id = $1', [await tenant()]);
  await expect(findDelivery(store, null, deliveryId)).rejects.toThrow(elsewhere);
});

test('a rotated secret of a node does not open as the current one', async () => {
  const { store, node, database } = await createFixture();
  const nodeId = await node();
  const rotation = { nodeId, secret: 'nsk_2', overlapMs: 1_000, force: false };
  await rotateNodeSecret(store, rotation, testAuthor);
  const found = await findNodeCredentials(store, nodeId);
  expect(found?.secrets).toMatchObject([
    { version: 2, secret: 'nsk_2' },
    { version: 1, secret: 'nsk_1' },
  ]);
  await database.query('UPDATE nodes SET secret_sealed = previous_secret_sealed');
  await expect(findNodeCredentials(store, nodeId)).rejects.toThrow(elsewhere);
});

async function previousDatabase(fixture: Fixture, masterKey: string) {
  const { database, store } = fixture;
  const open = async (): Promise<Store> => {
    const opened = await openReadyStore({
      databaseUrl: database.databaseUrl,
      environment: 'sandbox',
      sealer: createSealer(openKeyring(masterKey)),
      newId: store.newId,
    });
    if (opened.kind !== 'ready') throw new Error(opened.reason);
    onTestFinished(() => opened.store.close());
    return opened.store;
  };
  const previous = createSealer(openKeyring(masterKey));
  previous.phase = 'previous';
  await database.query('UPDATE environment SET request_hash_key_sealed = $1', [
    Buffer.from(previous.seal(environmentPlace('sandbox'), randomBytes(32))),
  ]);
  return { open };
}

async function resealEverything(store: Store): Promise<number> {
  let resealed = 0;
  for (const column of sealedColumns.filter(({ table }) => table !== 'environment')) {
    resealed += (await resealPage(store, column, null)).resealed;
  }
  return resealed;
}

test('values of the previous version are sealed again while services run, and refused afterwards', async () => {
  const masterKey = `test:${randomBytes(32).toString('base64')}`;
  const fixture = await createFixture({ masterKey });
  const { open } = await previousDatabase(fixture, masterKey);
  const [service, operator] = [await open(), await open()];
  const migrated = () => migrate(fixture.database.ownerUrl, fixture.database.databaseUrl);
  expect(await migrated()).toMatchObject({ isResealDue: true });
  const versions = async () => {
    const rows = await fixture.database.query<{ version: number }>(
      'SELECT DISTINCT get_byte(sealed, 0) AS version FROM tenant_secrets ORDER BY version',
    );
    return rows.map(({ version }) => version);
  };
  // Services of the previous version may still run, so new secrets are sealed in the format of that
  // version.
  const tenantId = await fixture.tenantThrough(service);
  expect(await versions()).toEqual([1]);
  const [previous] = await fixture.database.query<{ id: string; sealed: Buffer }>(
    `SELECT id, sealed FROM tenant_secrets WHERE kind = 'hmac'`,
  );
  expect((await findTenantCredentials(service, tenantId))?.hmacSecrets).toEqual(['hsk_test_1']);

  expect(await beginReseal(operator)).toBeGreaterThan(25_000);
  await waitUntil(() => service.sealer.phase === 'resealing', { what: 'the service to follow' });
  await fixture.tenantThrough(service);
  expect(await versions()).toEqual([1, 2]);
  expect(await resealEverything(operator)).toBe(3);
  expect(await resealEverything(operator)).toBe(0);
  expect(await versions()).toEqual([2]);
  await fixture.advance(31_000);
  expect(await beginReseal(operator)).toBe(0);
  await endReseal(operator);
  await waitUntil(() => service.sealer.phase === 'bound', { what: 'the service to follow' });
  expect((await findTenantCredentials(service, tenantId))?.hmacSecrets).toEqual(['hsk_test_1']);

  // Puts back the value that was sealed before the reseal. The service must refuse it.
  await fixture.database.query('UPDATE tenant_secrets SET sealed = $2 WHERE id = $1', [
    previous?.id,
    previous?.sealed,
  ]);
  await expect(findTenantCredentials(service, tenantId)).rejects.toThrow(
    'no longer accepts that format',
  );
});

test('a new database is sealed for complete places from its first value', async () => {
  const { store, database } = await createFixture();
  expect(await assertReady(store, 'sandbox')).toMatchObject({ kind: 'ready' });
  const migrated = await migrate(database.ownerUrl, database.databaseUrl);
  expect(migrated).toMatchObject({ isResealDue: false });
  expect(store.sealer.phase).toBe('bound');
  expect((await readEnvironment(store))?.sealed[0]).toBe(2);
  expect(await beginReseal(store)).toBe(0);
});
