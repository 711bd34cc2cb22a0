import { createTestDatabase } from '@svc/testkit';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { readMigrations } from './files.ts';
import { planMigration } from './plan.ts';
import { splitStatements } from './statements.ts';

const planOf = (sql: string) => planMigration({ name: 'x', sql, checksum: '' });

test.each([
  ['nothing', 'CREATE TABLE a (id UUID PRIMARY KEY); CREATE INDEX i ON a (id);'],
  ['nothing', 'CREATE INDEX CONCURRENTLY "i" ON "submissions" (id);'],
  ['nothing', `CALL svc_backfill('x', 'submissions', 'id', 'UPDATE submissions SET a = b;');`],
  ['nothing', 'ALTER TABLE submissions VALIDATE CONSTRAINT "c";'],
  ['nothing', '-- DROP TABLE a;\nCREATE FUNCTION f() RETURNS int AS $$ UPDATE a; DROP TABLE a $$;'],
  ['for_a_moment', 'ALTER TABLE "submissions" ADD COLUMN "a" TEXT, ADD COLUMN b INT DEFAULT 1;'],
  ['for_a_moment', 'ALTER TABLE submissions ADD CONSTRAINT "c" CHECK (a IN (1, 2)) NOT VALID;'],
  ['for_a_moment', 'ALTER TABLE submissions DROP COLUMN a;'],
  ['until_done', 'CREATE INDEX i ON submissions (id);'],
  ['until_done', 'ALTER TABLE submissions ADD COLUMN a TEXT, ADD CONSTRAINT c CHECK (a > 1);'],
  ['until_done', 'ALTER TABLE submissions ADD COLUMN a TEXT GENERATED ALWAYS AS (b) STORED;'],
  ['until_done', 'ALTER TABLE submissions ADD COLUMN a UUID DEFAULT gen_random_uuid();'],
  ['until_done', 'ALTER TABLE submissions ALTER COLUMN a TYPE BIGINT;'],
  ['until_done', 'ALTER TABLE submissions ALTER COLUMN a SET NOT NULL;'],
  ['until_done', 'UPDATE submissions SET a = 1;'],
  ['until_done', 'VACUUM FULL submissions;'],
])('the plan says that a migration blocks %s: %s', (blocks, sql) => {
  expect(planOf(sql).blocks).toBe(blocks);
});

test('the plan says which migration leaves its transaction and which one raises the schema floor', () => {
  expect(planOf('CREATE UNIQUE INDEX CONCURRENTLY i ON a (b);').inTransaction).toBe(false);
  const contract = planOf(
    `ALTER TABLE submissions DROP COLUMN a;
     INSERT INTO schema_floors (migration_name, needs_migration) VALUES ('x', '2026_expand');`,
  );
  expect(contract).toMatchObject({ inTransaction: true, raisesFloorTo: '2026_expand' });
});

/**
 * SQL that lists each table and the number of the file that stores its rows. If Postgres rewrites a
 * table, the table gets another file.
 */
const filesSql = `SELECT relname AS name, relfilenode AS file FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')`;
const locksSql = `SELECT DISTINCT c.relname AS name FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
  WHERE l.pid = pg_backend_pid() AND c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
    AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`;

test('the plan of each migration agrees with the locks and the rewrites that Postgres reports', async () => {
  const database = await createTestDatabase();
  const client = new Client({ connectionString: database.ownerUrl });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await database.close();
  });
  await client.query('CREATE SCHEMA fresh');
  await client.query('SET search_path TO fresh');
  const namesOf = async (sql: string) =>
    new Map(
      (await client.query<{ name: string; file: number }>(sql)).rows.map((row) => [
        row.name,
        row.file,
      ]),
    );
  const wrong: string[] = [];
  for (const migration of await readMigrations()) {
    const plan = planMigration(migration);
    const before = await namesOf(filesSql);
    // A transaction keeps the locks, so the test can read them before the commit. But a concurrent
    // index build cannot run in a transaction.
    if (plan.inTransaction) await client.query('BEGIN');
    await client.query(migration.sql);
    const locked = [...(await namesOf(locksSql)).keys()].filter((name) => before.has(name));
    if (plan.inTransaction) await client.query('COMMIT');
    const after = await namesOf(filesSql);
    const rewritten = [...before].filter(
      ([name, file]) => after.has(name) && after.get(name) !== file,
    );
    const seen =
      rewritten.length > 0 ? 'until_done' : locked.length > 0 ? 'for_a_moment' : 'nothing';
    // A plan with `until_done` is not compared, because the locks do not show whether a statement
    // reads the whole table while it holds them.
    if (plan.blocks !== 'until_done' && plan.blocks !== seen)
      wrong.push(`${migration.name}: ${plan.blocks} instead of ${seen} (${locked.join(', ')})`);
  }
  expect(wrong).toEqual([]);
});

/** The rules below apply only to the migrations after this one. */
const rulesBegin = '20261122230000_schema_floors';
/** Matches statements that remove or rename something that earlier builds may use. */
const takesAway = /^(?:DROP (?:TABLE|VIEW|FUNCTION)|ALTER TABLE .*(?:DROP COLUMN|RENAME)) /i;

function isContract(sql: string): boolean {
  return splitStatements(sql).some((statement) => takesAway.test(statement));
}

test('no migration from now on blocks requests, and one that takes something away raises the schema floor', async () => {
  const migrations = await readMigrations();
  const names = migrations.map(({ name }) => name);
  expect(names).toContain(rulesBegin);
  const plans = migrations
    .filter(({ name }) => name > rulesBegin)
    .map((migration) => ({ ...migration, ...planMigration(migration) }));
  expect(plans.filter(({ blocks }) => blocks === 'until_done')).toEqual([]);
  expect(
    plans.filter(({ sql, raisesFloorTo }) => isContract(sql) && raisesFloorTo === null),
  ).toEqual([]);
  const floors = plans.flatMap(({ raisesFloorTo }) => raisesFloorTo ?? []);
  expect(names).toEqual(expect.arrayContaining(floors));
});
