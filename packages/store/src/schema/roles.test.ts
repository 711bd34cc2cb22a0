import { testAuthor } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../connection/store.ts';
import { createNode } from '../nodes/nodes.ts';
import { createFixture } from '../store.fixture.ts';
import { assertReady } from './environment.ts';
import { readDatabaseHealth } from './health.ts';
import { migrate } from './migrate.ts';
import { makePartitions } from './partitions.ts';
import { excessPrivileges, servicePrivileges } from './roles.ts';

const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);

/**
 * The store of the fixture uses the role of the services. This role does not own the tables, so it
 * has only the privileges that the owner grants.
 */

test.each([
  ['ledger_entries', 'amount_micros = 1'],
  ['audit_log', 'after = NULL'],
  ['audit_chain', 'entry_id = 0'],
  ['rate_cards', "card = '{}'"],
])('the role of the services can neither change nor delete rows of %s', async (table, change) => {
  const { store, tenant } = await createFixture();
  await tenant();
  for (const sql of [
    `UPDATE ${table} SET ${change}`,
    `DELETE FROM ${table}`,
    `TRUNCATE ${table} CASCADE`,
  ]) {
    await expect(store.query(sql, [])).rejects.toThrow('permission denied');
  }
});

test.each([
  ["SET session_replication_role = 'replica'", 'permission denied to set parameter'],
  ['ALTER TABLE ledger_entries DISABLE TRIGGER USER', 'must be owner'],
  ['ALTER TABLE audit_log DISABLE TRIGGER audit_log_append_only', 'must be owner'],
  ['DROP TRIGGER ledger_entries_append_only ON ledger_entries', 'must be owner'],
  ['ALTER TABLE credit_accounts DROP CONSTRAINT credit_accounts_no_overdraft', 'must be owner'],
  ['DROP TABLE audit_log', 'must be owner'],
  ['DROP TABLE deliveries_default', 'must be owner'],
  ['DELETE FROM delivery_attempts', 'permission denied'],
  ['UPDATE deliveries_default SET attempt_count = 0', 'permission denied'],
  ['CREATE OR REPLACE FUNCTION svc_now() RETURNS timestamptz RETURN now()', 'permission denied'],
  ['INSERT INTO audit_chain (position, entry_id, hash) VALUES (9, 9, NULL)', 'permission denied'],
  ['CREATE TABLE planted (id int)', 'permission denied'],
  ["UPDATE environment SET name = 'production'", 'permission denied'],
  ['DELETE FROM _prisma_migrations', 'permission denied'],
  ["SELECT setval('audit_log_id_seq', 1)", 'permission denied'],
])('the role of the services is refused: %s', async (sql, reason) => {
  const { store } = await createFixture();
  await expect(store.query(sql, [])).rejects.toThrow(reason);
});

test('the role of the services creates partitions through a function and does not own them', async () => {
  const { store, database, advance } = await createFixture();
  await advance(40 * 24 * 3_600_000);
  const { made, errors } = await makePartitions(store);
  expect(made.length).toBeGreaterThanOrEqual(3);
  expect(errors).toEqual([]);
  const owners = await database.query(
    `SELECT DISTINCT c.relowner::regrole::text AS owner FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid`,
  );
  expect(owners).toEqual([{ owner: 'postgres' }]);
});

test('a function with the rights of the owner uses tables of one schema only', async () => {
  const { database } = await createFixture();
  const functions = await database.query(
    `SELECT proname, proconfig, has_function_privilege('public', oid, 'EXECUTE') AS everybody
     FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef`,
  );
  expect(functions.length).toBeGreaterThan(0);
  for (const one of functions) {
    expect(one).toMatchObject({
      proconfig: expect.arrayContaining(['search_path=public, pg_temp']),
      everybody: false,
    });
  }
});

test('every table is in the list of privileges, and the database grants exactly those', async () => {
  const { store, database } = await createFixture();
  const tables = await database.query<{ name: string; granted: string[] }>(`
    SELECT c.relname AS name, ARRAY(
      SELECT a.privilege_type FROM aclexplode(c.relacl) a
      WHERE a.grantee = 'svc'::regrole ORDER BY array_position(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE'], a.privilege_type)
    ) AS granted
    FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`);
  const wanted = Object.entries(servicePrivileges).map(([name, privileges]) => ({
    name,
    granted: privileges.filter((privilege) => !privilege.includes('(')),
  }));
  expect(tables.toSorted(byName)).toEqual(wanted.toSorted(byName));
  const before = await readDatabaseHealth(store);
  expect(before).toMatchObject({ excess: [], missing: [], idleSlots: [], defaultPartitions: [] });
  await database.query('REVOKE INSERT ON events FROM svc');
  await database.query(
    `INSERT INTO usage_reports (submission_id, at) VALUES (svc_uuid_floor('2030-01-01Z'), svc_now())`,
  );
  expect(await readDatabaseHealth(store)).toMatchObject({
    missing: ['INSERT on events'],
    defaultPartitions: ['usage_reports_default'],
  });
});

test('production refuses a superuser and an owner of tables, and a sandbox accepts them', async () => {
  const { store, database } = await createFixture();
  expect(await excessPrivileges(store)).toEqual([]);
  const role = `owner_${database.databaseUrl.slice(-12)}`;
  await database.query(`CREATE ROLE ${role} LOGIN CREATEROLE PASSWORD 'secret'`);
  await database.query(`ALTER TABLE ledger_entries OWNER TO ${role}`);
  const ownerUrl = new URL(database.ownerUrl);
  ownerUrl.username = role;
  ownerUrl.password = 'secret';
  const open = (databaseUrl: string) => openStore({ ...store, databaseUrl });
  const [superuser, owner] = [open(database.ownerUrl), open(ownerUrl.href)];
  onTestFinished(async () => {
    await Promise.all([superuser.close(), owner.close()]);
  });
  expect(await assertReady(superuser, 'sandbox')).toMatchObject({ kind: 'wrong_session' });
  expect(await migrate(database.ownerUrl, database.ownerUrl)).toMatchObject({ kind: 'migrated' });
  const again = open(database.ownerUrl);
  expect(await assertReady(again, 'sandbox')).toMatchObject({ kind: 'ready' });
  await again.close();
  expect(await excessPrivileges(superuser)).toEqual(['is a superuser']);
  expect(await excessPrivileges(owner)).toEqual([
    'may create roles',
    'owns tables',
    'may change the ledger or the audit log',
  ]);
  const boss = `boss_${database.databaseUrl.slice(-12)}`;
  await database.query(`CREATE ROLE ${boss} SUPERUSER NOLOGIN`);
  await database.query(`GRANT ${boss} TO ${role}`);
  expect(await excessPrivileges(owner)).toContain('may become a superuser');
  await database.query(`ALTER TABLE ledger_entries OWNER TO postgres; DROP OWNED BY ${role}`);
  await database.query(`DROP ROLE ${role}`);
  await database.query(`DROP ROLE ${boss}`);
});

test('production refuses a role that may change one column of the ledger', async () => {
  const { store, database } = await createFixture();
  const role = new URL(database.databaseUrl).username;
  await database.query(`GRANT UPDATE (amount_micros) ON ledger_entries TO "${role}"`);
  expect(await excessPrivileges(store)).toEqual(['may change the ledger or the audit log']);
});

test('an installation with one role gets the second by migrating, with the password of its URL', async () => {
  const { database, store } = await createFixture();
  const serviceUrl = new URL(database.databaseUrl);
  serviceUrl.username = `svc_${database.databaseUrl.slice(-12)}`;
  serviceUrl.password = 'of%20its%20own';
  const migrated = await migrate(database.ownerUrl, serviceUrl.href);
  expect(migrated).toMatchObject({ kind: 'migrated', applied: [] });
  const service = openStore({ ...store, databaseUrl: serviceUrl.href });
  await createNode(service, { id: store.newId(), name: 'attic', secret: 'nsk_1' }, testAuthor);
  expect(await excessPrivileges(service)).toEqual([]);
  await service.close();
  await database.query(`DROP OWNED BY ${serviceUrl.username}`);
  await database.query(`DROP ROLE ${serviceUrl.username}`);
});

test('if the owner may not create the role, the error says how to create it', async () => {
  const { database } = await createFixture();
  const role = `limited_${database.databaseUrl.slice(-12)}`;
  await database.query(`
    CREATE ROLE ${role} LOGIN PASSWORD 'secret';
    GRANT ALL ON SCHEMA public TO ${role};
    GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
  const ownerUrl = new URL(database.ownerUrl);
  ownerUrl.username = role;
  ownerUrl.password = 'secret';
  const serviceUrl = new URL(database.databaseUrl);
  serviceUrl.username = 'nobody_yet';
  expect(await migrate(ownerUrl.href, serviceUrl.href)).toMatchObject({
    kind: 'refused',
    reason: expect.stringContaining('CREATE ROLE "nobody_yet" LOGIN PASSWORD'),
  });
  await database.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
});
