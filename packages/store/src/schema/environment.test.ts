import { randomBytes } from 'node:crypto';
import { createSealer, openKeyring } from '@svc/signing';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../connection/store.ts';
import { hasOperators } from '../operators/operators.ts';
import { createFixture } from '../store.fixture.ts';
import { assertReady } from './environment.ts';
import { migrate } from './migrate.ts';

test('a migrated database is current, and migrating it again applies nothing', async () => {
  const { store, database } = await createFixture();
  expect((await assertReady(store, 'sandbox')).kind).toBe('ready');
  expect(await migrate(database.ownerUrl, database.databaseUrl)).toMatchObject({
    kind: 'migrated',
    applied: [],
  });
});

test('two migrators at once apply each migration once', async () => {
  const { database } = await createFixture();
  await database.query('DROP SCHEMA public CASCADE');
  await database.query('CREATE SCHEMA public');
  const results = await Promise.all([
    migrate(database.ownerUrl, database.databaseUrl),
    migrate(database.ownerUrl, database.databaseUrl),
  ]);
  const applied = results.map((result) => (result.kind === 'migrated' ? result.applied : []));
  expect(applied.flat()).toEqual([...new Set(applied.flat())]);
  expect(applied.flat().length).toBeGreaterThan(0);
  const cards = await database.query('SELECT version FROM rate_cards');
  expect(cards).toHaveLength(1);
});

test('a migration that cannot be recorded is rolled back, and none after it is applied', async () => {
  const { database } = await createFixture();
  await database.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await database.query(
    `CREATE TABLE _prisma_migrations (id text, checksum text, migration_name text,
       started_at timestamptz, finished_at timestamptz, rolled_back_at timestamptz,
       applied_steps_count int CHECK (applied_steps_count = 2))`,
  );
  const migrating = migrate(database.ownerUrl, database.databaseUrl);
  await expect(migrating).rejects.toThrow(/migration \w+_init failed and was rolled back/);
  expect(await database.query(`SELECT to_regclass('public.tenants') AS tenants`)).toEqual([
    { tenants: null },
  ]);
});

test('a service refuses an empty database and names the missing migrations', async () => {
  const { store, database } = await createFixture();
  await database.query('DROP TABLE _prisma_migrations');
  expect(await assertReady(store, 'sandbox')).toMatchObject({ kind: 'schema_behind' });
});

test('an unknown or changed migration is refused', async () => {
  const { store, database } = await createFixture();
  await database.query(`UPDATE _prisma_migrations SET checksum = 'other'`);
  expect(await assertReady(store, 'sandbox')).toMatchObject({
    kind: 'schema_unknown',
    reason: expect.stringContaining('was changed after it was applied'),
  });
  expect((await migrate(database.ownerUrl, database.databaseUrl)).kind).toBe('refused');
  await database.query(`UPDATE _prisma_migrations SET migration_name = '29990101000000_later'`);
  expect(await assertReady(store, 'sandbox')).toMatchObject({
    kind: 'schema_unknown',
    reason: expect.stringContaining('29990101000000_later'),
  });
});

test('a database refuses a service with another master key', async () => {
  const { store, database } = await createFixture();
  const sealer = createSealer(openKeyring(`other:${randomBytes(32).toString('base64')}`));
  const other = openStore({ databaseUrl: database.databaseUrl, sealer, newId: store.newId });
  onTestFinished(() => other.close());
  expect(await assertReady(other, 'sandbox')).toEqual({ kind: 'other_key' });
});

test('a database belongs to one environment for good, with one key of request hashes', async () => {
  const { store } = await createFixture();
  const [one, other] = await Promise.all([
    assertReady(store, 'sandbox'),
    assertReady(store, 'sandbox'),
  ]);
  expect(one).toEqual(other);
  expect(await assertReady(store, 'production')).toEqual({
    kind: 'other_environment',
    found: 'sandbox',
  });
});

test('a cut connection fails its own call, but neither the process nor the next call', async () => {
  const { store, database } = await createFixture();
  const cutAll = () =>
    database.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'svc'`,
    );
  for (let round = 0; round < 5; round += 1) {
    const inTransaction = store.transaction(async (query) => {
      await query('SELECT 1', []);
      await cutAll();
      return await query('SELECT 1', []);
    });
    const concurrent = Promise.allSettled(Array.from({ length: 20 }, () => hasOperators(store)));
    await expect(inTransaction).rejects.toThrow(/./);
    await concurrent;
    await cutAll();
    // The pool may notice the cut only after `cutAll` has resolved.
    await expect.poll(() => store.poolFigures().idle).toBe(0);
    expect(await hasOperators(store)).toBe(false);
  }
});
