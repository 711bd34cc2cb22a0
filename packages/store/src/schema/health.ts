import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Store } from '../connection/store.ts';
import { migrationsDirectory } from '../migrations/files.ts';
import { excessPrivileges, missingPrivileges } from './roles.ts';

export interface DatabaseHealth {
  /** The server's version, such as 180001. */
  readonly version: number;
  /** The settings of `settingNames`, with their values as `pg_settings` shows them. */
  readonly settings: Readonly<Record<string, string>>;
  /** Privileges of the connected role that services must not have, such as `may create roles`. */
  readonly excess: readonly string[];
  /**
   * Privileges that services need and the connected role lacks, such as `INSERT on ledger_entries`.
   */
  readonly missing: readonly string[];
  /**
   * The most sessions that the connected role may open. It is the lowest of three limits: of the
   * server, the database and the role.
   */
  readonly sessionsMax: number;
  readonly sessions: number;
  readonly isEncrypted: boolean;
  /** The connections that stream WAL from this server, such as standbys and running backups. */
  readonly standbys: number;
  /** The inactive replication slots. Such a slot can keep WAL that nobody reads. */
  readonly idleSlots: readonly string[];
  /** Default partitions that have received rows, because the partition of a month was missing. */
  readonly defaultPartitions: readonly string[];
}

const settingNames = [
  'fsync',
  'full_page_writes',
  'archive_mode',
  'data_checksums',
  'synchronous_standby_names',
];

export async function readDatabaseHealth(store: Store): Promise<DatabaseHealth> {
  const [row] = await store.query<
    Omit<DatabaseHealth, 'settings' | 'excess' | 'missing' | 'defaultPartitions'>
  >(
    `SELECT current_setting('server_version_num')::int AS version,
       LEAST(
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
           - COALESCE(current_setting('reserved_connections', true), '0')::int,
         (SELECT CASE WHEN datconnlimit < 0 THEN 2147483647 ELSE datconnlimit END FROM pg_database
          WHERE datname = current_database()),
         (SELECT CASE WHEN rolconnlimit < 0 THEN 2147483647 ELSE rolconnlimit END FROM pg_roles
          WHERE rolname = current_user)) AS "sessionsMax",
       (SELECT count(*)::int FROM pg_stat_activity WHERE usename = current_user) AS sessions,
       COALESCE((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS "isEncrypted",
       (SELECT count(*)::int FROM pg_stat_replication) AS standbys,
       ARRAY(SELECT slot_name::text FROM pg_replication_slots WHERE NOT active ORDER BY 1) AS "idleSlots"`,
    [],
  );
  if (row === undefined) throw new Error('the query of the database health returned no row');
  const settings = await store.query<{ name: string; setting: string }>(
    'SELECT name, setting FROM pg_settings WHERE name = ANY($1::text[])',
    [settingNames],
  );
  return {
    ...row,
    settings: Object.fromEntries(settings.map(({ name, setting }) => [name, setting])),
    excess: await excessPrivileges(store),
    missing: await missingPrivileges(store),
    defaultPartitions: await filledDefaults(store),
  };
}

/**
 * The default partitions that take space. The statement reads their size and not their rows,
 * because the role may read partitions only through their parent.
 */
async function filledDefaults(store: Store): Promise<string[]> {
  const rows = await store.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE c.relnamespace = current_schema()::regnamespace AND pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT'
       AND pg_relation_size(c.oid) > 0
     ORDER BY 1`,
    [],
  );
  return rows.map(({ name }) => name);
}

/**
 * Reads the real clock of the database server, which `svc doctor` compares with other clocks.
 * Stored times and deadlines come from `svc_now()` instead, which tests can advance.
 */
export async function readServerClock(store: Store): Promise<Date> {
  const [row] = await store.query<{ now: Date }>('SELECT clock_timestamp() AS now', []);
  if (row === undefined) throw new Error('the query of the server clock returned no row');
  return row.now;
}

const manifest = path.resolve(import.meta.dirname, '../../../../package.json');

/** The version of this build, and the last migration that it knows. */
export function buildFacts(): { readonly version: string; readonly schema: string } {
  const { version }: { version: string } = JSON.parse(readFileSync(manifest, 'utf8'));
  const migrations = readdirSync(migrationsDirectory, { withFileTypes: true });
  const names = migrations.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return { version, schema: names.toSorted().at(-1) ?? 'none' };
}
