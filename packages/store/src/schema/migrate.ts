import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { defaultRateCardJson } from '@svc/domain';
import { Client } from 'pg';
import { insufficientPrivilege, sqlState } from '../connection/errors.ts';
import { pinnedSession } from '../connection/session.ts';
import { previousVersion } from '../sealing/sealing-phase.ts';
import { grantService } from './roles.ts';

/** The folder of the migrations that this build knows. */
export const migrationsDirectory = path.resolve(
  import.meta.dirname,
  '../../../../prisma/migrations',
);

export type MigrationResult =
  /** `isResealDue`: values are still sealed without their complete place (sealing-phase.ts). */
  | { kind: 'migrated'; applied: string[]; isResealDue: boolean }
  | { kind: 'refused'; reason: string };

export type SchemaStatus =
  | { kind: 'current' }
  | { kind: 'behind'; pending: string[] }
  | { kind: 'unknown'; reason: string };

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

interface AppliedMigration {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
}

/** Only one migrator runs at a time. The number is arbitrary, but fixed. */
const advisoryLock = 7_261_948_305;

/**
 * Applies the missing migrations, each in its own transaction, and writes the default rate card if
 * there is none. Then it grants the role of `serviceUrl` its privileges (`roles.ts`). It records
 * migrations in `_prisma_migrations` as `prisma migrate deploy` does, so that either can apply
 * them. Refuses if a migration was changed after it was applied, or if the database has a migration
 * that this build does not know.
 */
export async function migrate(ownerUrl: string, serviceUrl = ownerUrl): Promise<MigrationResult> {
  const client = new Client({ ...pinnedSession(ownerUrl), application_name: 'svc-migrate' });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [advisoryLock]);
    await client.query(migrationsTable);
    const known = await readMigrations();
    const status = compare(known, await readApplied(client));
    if (status.kind === 'unknown') return { kind: 'refused', reason: status.reason };
    const pending = status.kind === 'behind' ? status.pending : [];
    for (const migration of known) {
      if (pending.includes(migration.name)) await apply(client, migration);
    }
    await client.query(
      `INSERT INTO rate_cards (tenant_id, card, created_at)
       SELECT NULL, $1::jsonb, svc_now()
       WHERE NOT EXISTS (SELECT 1 FROM rate_cards WHERE tenant_id IS NULL)`,
      [JSON.stringify(defaultRateCardJson)],
    );
    const granted = await grantService(client, serviceUrl);
    if (granted.kind === 'refused') return granted;
    return { kind: 'migrated', applied: pending, isResealDue: await isResealDue(client) };
  } catch (error) {
    if (sqlState(error) !== insufficientPrivilege) throw error;
    const reason =
      'the migrating role does not own the tables. Set MIGRATION_DATABASE_URL to the URL of the owner';
    return { kind: 'refused', reason };
  } finally {
    await client.end();
  }
}

/** Compares the applied migrations with those that this build knows. Changes nothing. */
export async function schemaStatus(
  query: (sql: string) => Promise<AppliedMigration[]>,
): Promise<SchemaStatus> {
  return compare(await readMigrations(), await query(appliedSql));
}

export const appliedSql =
  'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY migration_name';

function compare(known: Migration[], applied: AppliedMigration[]): SchemaStatus {
  const knownByName = new Map(known.map((migration) => [migration.name, migration]));
  for (const row of applied) {
    const migration = knownByName.get(row.migration_name);
    if (migration === undefined)
      return {
        kind: 'unknown',
        reason: `the database has migration ${row.migration_name}, which this build does not know`,
      };
    if (row.finished_at === null)
      return {
        kind: 'unknown',
        reason: `migration ${row.migration_name} was not applied completely`,
      };
    if (migration.checksum !== row.checksum)
      return {
        kind: 'unknown',
        reason: `migration ${row.migration_name} was changed after it was applied`,
      };
  }
  const done = new Set(applied.map((row) => row.migration_name));
  const pending = known.map(({ name }) => name).filter((name) => !done.has(name));
  return pending.length === 0 ? { kind: 'current' } : { kind: 'behind', pending };
}

async function readMigrations(): Promise<Migration[]> {
  const entries = await readdir(migrationsDirectory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.toSorted().map(async (name) => {
      const sql = await readFile(path.join(migrationsDirectory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

async function readApplied(client: Client): Promise<AppliedMigration[]> {
  return (await client.query<AppliedMigration>(appliedSql)).rows;
}

async function isResealDue(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ due: boolean }>(
    'SELECT get_byte(request_hash_key_sealed, 0) = $1 AS due FROM environment',
    [previousVersion],
  );
  return rows[0]?.due ?? false;
}

async function apply(client: Client, migration: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(migration.sql);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), migration.checksum, migration.name],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    if (sqlState(error) === insufficientPrivilege) throw error;
    throw new Error(`migration ${migration.name} failed and was rolled back`, { cause: error });
  }
}

// The table as Prisma creates it.
const migrationsTable = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum VARCHAR(64) NOT NULL,
  finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL,
  logs TEXT,
  rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;
