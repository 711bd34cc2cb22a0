import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createTestDatabase, lockTables, waitUntil } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { assertReady } from '../schema/environment.ts';
import { migrate, planMigrations } from '../schema/migrate.ts';
import { createFixture } from '../store.fixture.ts';
import { readMigrations } from './files.ts';
import { laterBuild } from './migrations.fixture.ts';
import { compareSchema } from './status.ts';

/** The tests use a later build, which has the migrations of this build and newer ones. */

const expand = '29990101000000_expand';
const contract = '29990102000000_contract';
const floor = (name: string, needs: string) =>
  `INSERT INTO schema_floors (migration_name, needs_migration) VALUES ('${name}', '${needs}');`;
const recordedSql = `SELECT migration_name AS name FROM _prisma_migrations WHERE migration_name > '2999' ORDER BY 1`;

test('a service starts on a later schema that adds, and is refused once the schema floor is above it', async () => {
  const { store, database } = await createFixture();
  const directory = laterBuild({
    [expand]: 'ALTER TABLE nodes ADD COLUMN later TEXT;',
    [contract]: floor(contract, expand),
  });
  const migrated = () => migrate(database.ownerUrl, database.databaseUrl, { directory });
  expect(await migrated()).toMatchObject({ applied: [expand], waiting: [contract] });
  expect(await assertReady(store, 'sandbox')).toMatchObject({ kind: 'ready' });
  // The migrator of this build does not know `expand`, so it changes nothing.
  expect(await migrate(database.ownerUrl, database.databaseUrl)).toMatchObject({
    applied: [],
    newer: [expand],
  });
  const raising = { directory, raisesFloor: true };
  const raised = await migrate(database.ownerUrl, database.databaseUrl, raising);
  expect(raised).toMatchObject({ applied: [contract], waiting: [] });
  const refusal = {
    kind: 'schema_unknown',
    reason: expect.stringContaining(`knows migration ${expand}`),
  };
  expect(await assertReady(store, 'sandbox')).toMatchObject(refusal);
  expect((await migrate(database.ownerUrl, database.databaseUrl)).kind).toBe('refused');
});

test('the migrator of an earlier build takes no privilege away that a later one granted', async () => {
  const { store, database } = await createFixture();
  const directory = laterBuild({ [expand]: 'ALTER TABLE nodes ADD COLUMN later TEXT;' });
  await migrate(database.ownerUrl, database.databaseUrl, { directory });
  await database.query('GRANT DELETE ON surge_pin TO PUBLIC');
  await database.query(`GRANT DELETE ON nodes TO ${new URL(database.databaseUrl).username}`);
  await migrate(database.ownerUrl, database.databaseUrl);
  await expect(store.query('DELETE FROM nodes', [])).resolves.toEqual([]);
});

test('a build needs its migrations, except those that it works without or that raise the schema floor', async () => {
  const known = await readMigrations(
    laterBuild({ [expand]: 'SELECT 1;', [contract]: floor(contract, expand) }),
  );
  const applied = known
    .filter(({ name }) => name < '2999')
    .map((one) => ({ migration_name: one.name, checksum: one.checksum, finished_at: new Date() }));
  const record = { applied, floors: [] };
  expect(compareSchema(known, record)).toEqual({
    kind: 'behind',
    pending: [expand, contract],
    lacking: [expand],
  });
  expect(compareSchema(known, record, [expand])).toEqual({
    kind: 'usable',
    pending: [expand, contract],
    newer: [],
  });
});

test('the plan names what is missing and changes nothing', async () => {
  const { database } = await createFixture();
  const directory = laterBuild({
    [expand]: 'ALTER TABLE nodes ADD COLUMN later TEXT;',
    [contract]: `ALTER TABLE nodes DROP COLUMN later; ${floor(contract, expand)}`,
  });
  expect(await planMigrations(database.ownerUrl, directory)).toMatchObject({
    pending: [
      { name: expand, blocks: 'for_a_moment', raisesFloorTo: null },
      { name: contract, blocks: 'for_a_moment', raisesFloorTo: expand },
    ],
  });
  expect(await database.query(recordedSql)).toEqual([]);
});

test('a migration gives up a lock that is not free, lets requests pass, and tries again', async () => {
  const { database, store } = await createFixture();
  const directory = laterBuild({ [expand]: 'ALTER TABLE nodes ADD COLUMN later TEXT;' });
  const unlock = await lockTables(database.ownerUrl, ['nodes'], 'ACCESS SHARE');
  const patience = { lockTimeoutMs: 20, attemptsMax: 1_000, pauseMs: 1 };
  const migrating = migrate(database.ownerUrl, database.databaseUrl, { directory, patience });
  let isDone = false;
  void migrating.finally(() => (isDone = true));
  const waitingSql = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'nodes'::regclass`;
  const waits = async () => (await database.query(waitingSql)).length > 0;
  await waitUntil(waits, { what: 'the migration to wait for the lock' });
  // If the migration waited without a limit, this read would wait behind it.
  await store.query('SELECT id FROM nodes', []);
  expect(isDone).toBe(false);
  await unlock();
  expect(await migrating).toMatchObject({ applied: [expand] });
});

test('a migration whose lock stays taken is rolled back, and says so', async () => {
  const { database } = await createFixture();
  const directory = laterBuild({ [expand]: 'ALTER TABLE nodes ADD COLUMN later TEXT;' });
  const unlock = await lockTables(database.ownerUrl, ['nodes'], 'ACCESS SHARE');
  const patience = { lockTimeoutMs: 5, attemptsMax: 2, pauseMs: 1 };
  await expect(
    migrate(database.ownerUrl, database.databaseUrl, { directory, patience }),
  ).rejects.toThrow('was rolled back. Other sessions hold a lock');
  await unlock();
});

test('an index is built concurrently, and one that a kill left invalid is built again', async () => {
  const { database } = await createFixture();
  const sql = 'CREATE UNIQUE INDEX CONCURRENTLY "later_idx" ON "nodes" (name);';
  const directory = laterBuild({ [expand]: sql });
  await database.query(
    `INSERT INTO nodes (id, name, secret_sealed, created_at, changed_at)
     SELECT gen_random_uuid(), 'same', '\\x00', svc_now(), svc_now() FROM generate_series(1, 2)`,
  );
  const migrated = () => migrate(database.ownerUrl, database.databaseUrl, { directory });
  // Two nodes have the same name, so the unique index cannot be built. The failed build leaves an
  // invalid index, as a kill would.
  await expect(migrated()).rejects.toThrow('Its finished part stays');
  const validSql = `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'later_idx'::regclass`;
  expect(await database.query(validSql)).toEqual([{ valid: false }]);
  await database.query(`UPDATE nodes SET name = id::text`);
  expect(await migrated()).toMatchObject({ applied: [expand] });
  expect(await database.query(validSql)).toEqual([{ valid: true }]);
  const [known] = (await readMigrations(directory)).filter(({ name }) => name === expand);
  expect(
    await database.query(
      `SELECT checksum, applied_steps_count AS steps FROM _prisma_migrations WHERE migration_name = '${expand}'`,
    ),
  ).toEqual([{ checksum: known?.checksum, steps: 1 }]);
  // Deletes the record of the migration, as if a kill came after the migration had created the
  // index and before it was recorded.
  const indexSql = `SELECT 'later_idx'::regclass::oid AS oid`;
  const built = await database.query(indexSql);
  await database.query(`DELETE FROM _prisma_migrations WHERE migration_name = '${expand}'`);
  expect(await migrated()).toMatchObject({ applied: [expand] });
  expect(await database.query(indexSql)).toEqual(built);
});

test('a backfill continues after a kill -9 where its last batch ended, and visits each row once', async () => {
  const { database } = await createFixture();
  await database.query(
    `CREATE TABLE filled (id UUID PRIMARY KEY DEFAULT gen_random_uuid(), visits INT NOT NULL DEFAULT 0);
     INSERT INTO filled SELECT FROM generate_series(1, 400)`,
  );
  const backfill = `CALL svc_backfill('visits', 'filled', 'id',
    'UPDATE filled SET visits = visits + 1 WHERE id = ANY ($1::uuid[])', 10, 0.02);`;
  const directory = laterBuild({ [expand]: backfill });
  const entry = path.join(import.meta.dirname, 'migrate-process.fixture.ts');
  const args = [entry, database.ownerUrl, database.databaseUrl, directory];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  const progressSql = `SELECT rows_done::int AS done, finished_at AS finished FROM backfills`;
  const progress = async () => (await database.query<{ done: number }>(progressSql))[0]?.done ?? 0;
  await waitUntil(async () => (await progress()) > 20, { what: 'some batches', timeoutMs: 20_000 });
  const killed = once(child, 'exit');
  child.kill('SIGKILL');
  await killed;
  expect(await database.query(recordedSql)).toEqual([]);
  const migrated = await migrate(database.ownerUrl, database.databaseUrl, { directory });
  expect(migrated).toMatchObject({ applied: [expand] });
  expect(
    await database.query('SELECT visits, count(*)::int AS rows FROM filled GROUP BY 1'),
  ).toEqual([{ visits: 1, rows: 400 }]);
  expect(await progress()).toBe(400);
});

test('a stopped first migration continues to the end, also over a raise of the schema floor', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  await database.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  const directory = laterBuild({
    // This migration fails until the schema `go_on` exists.
    [expand]: `SELECT 1 / count(*) FROM pg_namespace WHERE nspname = 'go_on';`,
    [contract]: floor(contract, expand),
  });
  const migrated = () => migrate(database.ownerUrl, database.databaseUrl, { directory });
  await expect(migrated()).rejects.toThrow('failed and was rolled back');
  await database.query('CREATE SCHEMA go_on');
  expect(await migrated()).toMatchObject({ kind: 'migrated', waiting: [] });
});
