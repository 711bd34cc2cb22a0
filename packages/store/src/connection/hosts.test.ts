import { openDatabaseGate, type TestDatabase, waitUntil } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { assertReady } from '../schema/environment.ts';
import { createFixture } from '../store.fixture.ts';
import { isUnavailable } from './errors.ts';
import { connectClient, urlsOfHosts } from './hosts.ts';
import { openStore, type Store } from './store.ts';

const one = 'SELECT 1 AS one';

function withHosts(databaseUrl: string, hosts: readonly string[]): string {
  const { host } = new URL(databaseUrl);
  return databaseUrl.replace(host, hosts.join(','));
}

const hostOf = (url: string) => new URL(url).host;

test('a URL with several hosts gives one URL for each host', () => {
  expect(urlsOfHosts('postgresql://svc:a%40b@db-a:5432,db-b:5433/svc?sslmode=require')).toEqual([
    'postgresql://svc:a%40b@db-a:5432/svc?sslmode=require',
    'postgresql://svc:a%40b@db-b:5433/svc?sslmode=require',
  ]);
  const single = 'postgresql://svc@db-a/svc';
  expect(urlsOfHosts(single)).toEqual([single]);
});

test('a store follows its server from one host of its URL to the next', async () => {
  const { database, store } = await createFixture();
  const gates = await Promise.all([1, 2].map(() => openDatabaseGate(database.databaseUrl)));
  const hosts = gates.map(({ databaseUrl }) => hostOf(databaseUrl));
  const other = openStore({ ...store, databaseUrl: withHosts(database.databaseUrl, hosts) });
  onTestFinished(async () => {
    await other.close();
    for (const gate of gates) await gate.close();
  });
  expect(await other.query(one, [])).toEqual([{ one: 1 }]);
  expect(gates.map((gate) => gate.roundTrips() > 0)).toEqual([true, false]);
  await gates[0]?.close();
  // The first statement may fail, because its idle connection goes through the closed gate.
  // `waitUntil` then tries again.
  const isBack = () =>
    other.query(one, []).then(
      () => true,
      () => false,
    );
  expect(await waitUntil(isBack)).toBe(true);
  expect(await other.db.environment.count()).toBe(1);
  expect(gates[1]?.roundTrips()).toBeGreaterThan(0);
});

test('a standby is never used, and its promotion is noticed by the next call', async () => {
  const { database, store } = await createFixture();
  await database.query('CREATE SCHEMA shadow');
  await database.query('CREATE TABLE shadow.role AS SELECT true AS standby');
  await database.query(
    `CREATE FUNCTION shadow.pg_is_in_recovery() RETURNS boolean LANGUAGE sql
     RETURN (SELECT standby FROM shadow.role)`,
  );
  await database.query('GRANT USAGE ON SCHEMA shadow TO PUBLIC');
  await database.query('GRANT SELECT ON shadow.role TO PUBLIC');
  const standby = new URL(database.databaseUrl);
  standby.searchParams.set('options', '-c search_path=shadow,pg_catalog,public');
  const databaseUrl = withHosts(standby.href, [standby.host, standby.host]);
  const other = openStore({ ...store, databaseUrl });
  onTestFinished(() => other.close());
  const refused = await other.query(one, []).catch((error: unknown) => error);
  expect(String(refused)).toContain('the Postgres server is a standby');
  expect(isUnavailable(refused)).toBe(true);
  await expect(connectClient(databaseUrl, (url) => ({ connectionString: url }))).rejects.toThrow(
    'could not connect to a Postgres host that accepts writes',
  );
  await database.query('UPDATE shadow.role SET standby = false');
  expect(await other.query(one, [])).toEqual([{ one: 1 }]);
});

test('a host that vanished from the network counts as an unavailable database', () => {
  for (const code of ['EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN']) {
    expect(isUnavailable(new Error(`connect ${code} 10.0.0.1:5432`))).toBe(true);
  }
});

const refusing = { refusesAsyncStandby: true } as const;

test('a service starts on a server without a standby, and is refused if its URL lists one', async () => {
  const { store } = await createFixture();
  expect((await assertReady(store, 'sandbox', refusing)).kind).toBe('ready');
  expect(await assertReady(store, 'sandbox', { ...refusing, listsStandby: true })).toEqual({
    kind: 'async_standby',
  });
});

test('a service is refused by a server that a standby follows with its own slot', async () => {
  const { database, store } = await createFixture();
  await database.query('CREATE SCHEMA shadow');
  await database.query(
    `CREATE VIEW shadow.pg_replication_slots AS
     SELECT 'physical'::text AS slot_type, true AS active, false AS temporary`,
  );
  const other = await openShadowed(database, store);
  expect(await assertReady(other, 'sandbox', refusing)).toEqual({ kind: 'async_standby' });
});

test('a service starts if commits wait for the standby', async () => {
  const { database, store } = await createFixture();
  await database.query('CREATE SCHEMA shadow');
  await database.query(
    `CREATE FUNCTION shadow.current_setting(name text) RETURNS text LANGUAGE sql
     RETURN CASE name WHEN 'synchronous_standby_names' THEN 'ANY 1 (b)' ELSE pg_catalog.current_setting(name) END`,
  );
  const other = await openShadowed(database, store);
  const options = { ...refusing, listsStandby: true };
  expect((await assertReady(other, 'sandbox', options)).kind).toBe('ready');
});

async function openShadowed(database: TestDatabase, store: Store): Promise<Store> {
  await database.query('GRANT USAGE ON SCHEMA shadow TO PUBLIC');
  await database.query('GRANT SELECT ON ALL TABLES IN SCHEMA shadow TO PUBLIC');
  const url = new URL(database.databaseUrl);
  url.searchParams.set('options', '-c search_path=shadow,pg_catalog,public');
  const other = openStore({ ...store, databaseUrl: url.href });
  onTestFinished(() => other.close());
  return other;
}
