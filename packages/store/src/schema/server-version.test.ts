import { openDatabaseGate } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { createFixture } from '../store.fixture.ts';
import { openReadyStore } from './environment.ts';
import { migrate, planMigrations } from './migrate.ts';
import { isSupported } from './server-version.ts';

test.each([
  [90_624, false],
  [140_019, false],
  [149_999, false],
  [150_000, true],
  [170_002, true],
])('server_version_num %d: supported is %s', (number, expected) => {
  expect(isSupported(number)).toBe(expected);
});

/** The URL of an empty database, whose server says that its version is 14.11. */
async function oldDatabase(isEmpty: boolean) {
  const fixture = await createFixture();
  const { database } = fixture;
  if (isEmpty) await database.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  const [row] = await database.query<{ number: string }>(
    `SELECT current_setting('server_version_num') AS number`,
  );
  const open = async (url: string) => {
    const gate = await openDatabaseGate(url);
    onTestFinished(() => gate.close());
    gate.rewrite(row?.number ?? '', '140011');
    return gate.databaseUrl;
  };
  return {
    ...fixture,
    ownerUrl: await open(database.ownerUrl),
    databaseUrl: await open(database.databaseUrl),
  };
}

const tooOld = {
  kind: 'server_too_old',
  reason: expect.stringMatching(/^Postgres \S.* is too old: use Postgres 15 or newer\.$/),
};

test('a server below version 15 is not migrated, and no plan is made for it', async () => {
  const { database, ownerUrl, databaseUrl } = await oldDatabase(true);
  expect(await planMigrations(ownerUrl)).toEqual(tooOld);
  expect(await migrate(ownerUrl, databaseUrl)).toEqual(tooOld);
  const tables = await database.query(`SELECT FROM pg_tables WHERE schemaname = 'public'`);
  expect(tables).toEqual([]);
});

test('a service refuses a server below version 15', async () => {
  const { store, databaseUrl } = await oldDatabase(false);
  const { sealer, newId } = store;
  const options = { databaseUrl, sealer, newId, environment: 'sandbox' } as const;
  expect(await openReadyStore(options)).toEqual({ ...tooOld, kind: 'refused' });
});
