import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../connection/store.ts';
import { createFixture, type Fixture } from '../store.fixture.ts';
import { assertReady } from './environment.ts';
import { migrate } from './migrate.ts';

async function createRole({ database }: Fixture): Promise<{ role: string; serviceUrl: string }> {
  const role = `services_${database.databaseUrl.slice(-12)}`;
  await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  onTestFinished(async () => {
    await database.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  });
  const url = new URL(database.databaseUrl);
  url.username = role;
  url.password = 'secret';
  return { role, serviceUrl: url.href };
}

test('a service refuses a role without the settings, and accepts it after the next migration', async () => {
  const fixture = await createFixture();
  const { database, store } = fixture;
  const { role, serviceUrl } = await createRole(fixture);
  const readiness = async () => {
    const service = openStore({ ...store, databaseUrl: serviceUrl });
    try {
      return await assertReady(service, 'sandbox');
    } finally {
      await service.close();
    }
  };
  expect(await migrate(database.ownerUrl, serviceUrl)).toMatchObject({ kind: 'migrated' });
  expect(await readiness()).toMatchObject({ kind: 'ready' });
  await database.query(`ALTER ROLE ${role} RESET statement_timeout`);
  await database.query(`ALTER ROLE ${role} SET jit = on`);
  expect(await readiness()).toEqual({
    kind: 'wrong_session',
    faults: [
      expect.stringMatching(/jit is on instead of off, statement_timeout is 0 instead of 10s/),
    ],
  });
  expect(await migrate(database.ownerUrl, serviceUrl)).toMatchObject({ kind: 'migrated' });
  expect(await readiness()).toMatchObject({ kind: 'ready' });
});

test('a role that the owner may not change gets its settings by itself', async () => {
  const fixture = await createFixture();
  const { database } = fixture;
  const { role, serviceUrl } = await createRole(fixture);
  const owner = `owner_${database.databaseUrl.slice(-12)}`;
  await database.query(`CREATE ROLE ${owner} LOGIN PASSWORD 'secret'`);
  await database.query(
    `DO $$ DECLARE o text; BEGIN
       FOR o IN SELECT format('ALTER %s %s OWNER TO ${owner}', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, oid::regclass)
         FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') LOOP EXECUTE o; END LOOP;
       FOR o IN SELECT format('ALTER ROUTINE %s OWNER TO ${owner}', oid::regprocedure)
         FROM pg_proc WHERE pronamespace = 'public'::regnamespace LOOP EXECUTE o; END LOOP;
     END $$; ALTER SCHEMA public OWNER TO ${owner}`,
  );
  const ownerUrl = new URL(database.ownerUrl);
  ownerUrl.username = owner;
  ownerUrl.password = 'secret';
  const migrated = await migrate(ownerUrl.href, serviceUrl);
  const settings = await database.query<{ timeout: string }>(
    `SELECT unnest(setconfig) AS timeout FROM pg_db_role_setting WHERE setrole = '${role}'::regrole`,
  );
  await database.query(
    `REASSIGN OWNED BY ${owner} TO postgres; DROP OWNED BY ${owner}; DROP ROLE ${owner}`,
  );
  expect(migrated).toMatchObject({ kind: 'migrated' });
  expect(settings).toContainEqual({ timeout: 'statement_timeout=10s' });
});
