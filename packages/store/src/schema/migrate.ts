import { setTimeout as pause } from 'node:timers/promises';
import { defaultRateCardJson } from '@svc/domain';
import type { Client } from 'pg';
import { insufficientPrivilege, sqlState } from '../connection/errors.ts';
import { connectClient } from '../connection/hosts.ts';
import { pinnedSession } from '../connection/session.ts';
import { applyMigration, type LockPatience, lockPatience } from '../migrations/apply.ts';
import { type Migration, migrationsDirectory, readMigrations } from '../migrations/files.ts';
import { planMigration, type PlannedMigration } from '../migrations/plan.ts';
import {
  type AppliedMigration,
  appliedSql,
  compareSchema,
  floorsSql,
  type SchemaFloor,
  type SchemaRecord,
  type SchemaStatus,
} from '../migrations/status.ts';
import { previousVersion } from '../sealing/sealing-phase.ts';
import { grantService } from './roles.ts';
import { oldServer } from './server-version.ts';

export type MigrationResult =
  | {
      kind: 'migrated';
      applied: string[];
      /**
       * The first pending migration that raises the schema floor, and all pending ones after it.
       * They wait for a call with `raisesFloor`.
       */
      waiting: string[];
      /**
       * Applied migrations that this build does not know. If there are any, `migrate` changes
       * nothing.
       */
      newer: string[];
      /**
       * True if some values are not yet sealed for their complete place (`sealing-phase.ts`).
       * Always false if `newer` is not empty.
       */
      isResealDue: boolean;
    }
  | { kind: 'server_too_old'; reason: string }
  | { kind: 'refused'; reason: string };

export interface MigrationOptions {
  /**
   * True: also applies migrations that earlier builds do not work with. A database to which no
   * migration was applied gets all migrations, even without this option.
   */
  readonly raisesFloor?: boolean;
  readonly patience?: LockPatience;
  /** The folder of the migrations. Default: the folder of this build's migrations. */
  readonly directory?: string;
}

export type MigrationPlan =
  | { kind: 'planned'; pending: PlannedMigration[]; newer: string[] }
  | { kind: 'server_too_old'; reason: string }
  | { kind: 'refused'; reason: string };

/**
 * The number of the advisory lock that lets only one migrator run at a time. The number is
 * arbitrary but fixed.
 */
const advisoryLock = 7_261_948_305;
const advisoryPauseMs = 100;

/**
 * Applies the pending migrations, except those that it returns as `waiting` (decision 33). Changes
 * nothing if a later build has migrated or the server is too old.
 */
export async function migrate(
  ownerUrl: string,
  /** The URL of the services. `grantService` prepares the role of this URL. */
  serviceUrl = ownerUrl,
  options: MigrationOptions = {},
): Promise<MigrationResult> {
  const client = await connectOwner(ownerUrl);
  try {
    const tooOld = await oldServerOf(client);
    if (tooOld !== undefined) return { kind: 'server_too_old', reason: tooOld };
    await lockMigrations(client);
    await client.query(migrationsTable);
    const known = await readMigrations(options.directory ?? migrationsDirectory);
    const record = await readRecord(client);
    const status = compareSchema(known, record);
    if (status.kind === 'unknown') return { kind: 'refused', reason: status.reason };
    const newer = status.kind === 'usable' ? status.newer : [];
    // A later build has migrated this database. This build changes nothing there, not even the
    // privileges or the rate card.
    if (newer.length > 0)
      return { kind: 'migrated', applied: [], waiting: [], newer, isResealDue: false };
    const raisesFloor = options.raisesFloor === true || !(await hasBeenUsed(client));
    const pending = known.filter(({ name }) => status.pending.includes(name));
    const waitingFrom = raisesFloor ? -1 : pending.findIndex(raisesFloorItself);
    const applicable = waitingFrom === -1 ? pending : pending.slice(0, waitingFrom);
    for (const migration of applicable)
      await applyMigration(client, migration, options.patience ?? lockPatience);
    await writeDefaultRateCard(client);
    const granted = await grantService(client, serviceUrl);
    if (granted.kind === 'refused') return granted;
    return {
      kind: 'migrated',
      applied: namesOf(applicable),
      waiting: namesOf(pending.slice(applicable.length)),
      newer,
      isResealDue: await isResealDue(client),
    };
  } catch (error) {
    if (sqlState(error) !== insufficientPrivilege) throw error;
    const reason =
      'the role that migrates has no right to change the schema. Set MIGRATION_DATABASE_URL to a URL with the role that owns the tables';
    return { kind: 'refused', reason };
  } finally {
    await client.end();
  }
}

/**
 * Returns the pending migrations with their effects, `server_too_old` below `serverVersionMin`, or
 * `refused` if the status of the schema is `unknown`. Changes nothing.
 */
export async function planMigrations(
  ownerUrl: string,
  directory = migrationsDirectory,
): Promise<MigrationPlan> {
  const client = await connectOwner(ownerUrl);
  try {
    const tooOld = await oldServerOf(client);
    if (tooOld !== undefined) return { kind: 'server_too_old', reason: tooOld };
    const known = await readMigrations(directory);
    const status = compareSchema(known, await readRecord(client));
    if (status.kind === 'unknown') return { kind: 'refused', reason: status.reason };
    const pending = known.filter(({ name }) => status.pending.includes(name));
    const newer = status.kind === 'usable' ? status.newer : [];
    return { kind: 'planned', pending: pending.map(planMigration), newer };
  } finally {
    await client.end();
  }
}

/** Finds out if this build works with the schema of a database. Changes nothing. */
export async function schemaStatus(query: Query): Promise<SchemaStatus> {
  return compareSchema(await readMigrations(), await readSchema(query));
}

type Query = <Row extends object>(sql: string) => Promise<Row[]>;
const undefinedTable = '42P01';

async function readSchema(query: Query): Promise<SchemaRecord> {
  const rowsOf = async <Row extends object>(sql: string): Promise<Row[] | null> => {
    try {
      return await query<Row>(sql);
    } catch (error) {
      if (sqlState(error) === undefinedTable) return null;
      throw error;
    }
  };
  const applied = await rowsOf<AppliedMigration>(appliedSql);
  return { applied: applied ?? [], floors: await rowsOf<SchemaFloor>(floorsSql) };
}

async function readRecord(client: Client): Promise<SchemaRecord> {
  return readSchema(async <Row extends object>(sql: string) => (await client.query<Row>(sql)).rows);
}

function oldServerOf(client: Client): Promise<string | undefined> {
  return oldServer(async <Row extends object>(sql: string) => (await client.query<Row>(sql)).rows);
}

function raisesFloorItself(migration: Migration): boolean {
  return planMigration(migration).raisesFloorTo !== null;
}

/** If this process is killed, Postgres ends the running statement within two seconds. */
const ownersSettings = '-c client_connection_check_interval=2s';

async function connectOwner(ownerUrl: string): Promise<Client> {
  return connectClient(ownerUrl, (url) => ({
    ...pinnedSession(url, ownersSettings),
    application_name: 'svc-migrate',
  }));
}

/**
 * Polls, because a waiting statement keeps a snapshot. A concurrent index build of the lock's
 * holder would wait for that snapshot: a deadlock (decision 33).
 */
async function lockMigrations(client: Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>(
      'SELECT pg_try_advisory_lock($1) AS locked',
      [advisoryLock],
    );
    if (rows[0]?.locked === true) return;
    await pause(advisoryPauseMs);
  }
}

function namesOf(migrations: readonly Migration[]): string[] {
  return migrations.map(({ name }) => name);
}

async function writeDefaultRateCard(client: Client): Promise<void> {
  await client.query(
    `INSERT INTO rate_cards (tenant_id, card, created_at)
     SELECT NULL, $1::jsonb, svc_now()
     WHERE NOT EXISTS (SELECT 1 FROM rate_cards WHERE tenant_id IS NULL)`,
    [JSON.stringify(defaultRateCardJson)],
  );
}

/**
 * True if a service or `svc` has used the database. Whichever uses it first writes the environment
 * row.
 */
async function hasBeenUsed(client: Client): Promise<boolean> {
  try {
    return (await client.query('SELECT 1 FROM environment')).rows.length > 0;
  } catch (error) {
    if (sqlState(error) === undefinedTable) return false;
    throw error;
  }
}

async function isResealDue(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ due: boolean }>(
    'SELECT get_byte(request_hash_key_sealed, 0) = $1 AS due FROM environment',
    [previousVersion],
  );
  return rows[0]?.due ?? false;
}

// The table of applied migrations, as Prisma creates it.
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
