import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeTemplate, type TestServers } from '@svc/testkit';
import { Client } from 'pg';
import { applyEdit } from '../../faults/injected-bugs/injected-bug.ts';
import { childEnvironment } from './child-environment.ts';
import { checkout, type OtherText } from './test-files.ts';

export type MigrationTemplate =
  | { readonly kind: 'made'; readonly servers: TestServers; readonly drop: () => Promise<void> }
  /**
   * The result of `schemaSql` is the same as without the mutant, for example because a later
   * migration replaces what the mutant changed.
   */
  | { readonly kind: 'same_schema' }
  | { readonly kind: 'refused'; readonly reason: string };

const migrateFile = 'packages/store/src/migrations/files.ts';
const ownDirectory = `path.resolve(
  import.meta.dirname,
  '../../../../prisma/migrations',
)`;

const schemaSql = `
  SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) AS row
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
  UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT viewname || ' ' || definition FROM pg_views WHERE schemaname = 'public'
  UNION ALL SELECT table_name || ' ' || column_name || ' ' || data_type || ' ' || is_nullable
    || ' ' || coalesce(column_default, '') || ' ' || coalesce(generation_expression, '')
  FROM information_schema.columns WHERE table_schema = 'public'
  ORDER BY 1`;
const booksSql = 'SELECT migration_name, checksum FROM _prisma_migrations';

/** Makes a template database with one changed migration (decision 20). */
export async function makeMutatedTemplate(
  servers: TestServers,
  change: OtherText,
): Promise<MigrationTemplate> {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-mutant-'));
  const name = `svc_mutant_${process.pid}_${Date.now()}`;
  const databaseUrl = (database: string) => urlOf(servers.adminUrl, database);
  const serviceUrl = (database: string) => urlOf(servers.serviceUrl, database);
  const drop = () => dropTemplate(servers, name);
  try {
    const env = migratesFrom(dir, change);
    const known = await readThrough(databaseUrl, servers.template, [schemaSql, booksSql]);
    let schema = '';
    const server = { url: servers.adminUrl, databaseUrl, serviceUrl };
    await makeTemplate(server, servers.masterKey, {
      name,
      env,
      async onMigrated(url) {
        schema = await onClient(url, async (client) => {
          await correctBooks(client, known[1] ?? '[]');
          return rowsOf(client, schemaSql);
        });
      },
    });
    if (schema !== known[0]) return { kind: 'made', servers: { ...servers, template: name }, drop };
    await drop();
    return { kind: 'same_schema' };
  } catch (error) {
    await drop();
    return { kind: 'refused', reason: error instanceof Error ? error.message : String(error) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/**
 * Copies the migrations into `dir` and applies the change there. Returns the environment in which
 * `svc migrate` reads this copy.
 */
function migratesFrom(dir: string, change: OtherText): NodeJS.ProcessEnv {
  const migrations = path.join(dir, 'prisma/migrations');
  cpSync(path.join(checkout, 'prisma/migrations'), migrations, { recursive: true });
  writeFileSync(path.join(dir, change.file), change.text);
  const source = readFileSync(path.join(checkout, migrateFile), 'utf8');
  const edit = { file: migrateFile, from: ownDirectory, to: JSON.stringify(migrations) };
  const textFile = path.join(dir, 'migrate.ts');
  writeFileSync(textFile, applyEdit(source, edit));
  return childEnvironment(migrateFile, textFile);
}

/**
 * Writes the checksums of the unchanged migrations into the database. The services read the
 * unchanged migrations, and refuse a database with other checksums.
 */
async function correctBooks(client: Client, books: string): Promise<void> {
  await client.query(
    `UPDATE _prisma_migrations p SET checksum = b.checksum
     FROM jsonb_to_recordset($1::jsonb) AS b (migration_name text, checksum text)
     WHERE b.migration_name = p.migration_name`,
    [books],
  );
}

async function rowsOf(client: Client, sql: string): Promise<string> {
  return JSON.stringify((await client.query(sql)).rows);
}

/** Reads a copy of the template, because a template accepts no connections. */
async function readThrough(
  databaseUrl: (name: string) => string,
  template: string,
  statements: readonly string[],
): Promise<string[]> {
  const copy = `${template}_copy_${process.pid}_${Date.now()}`;
  const asAdmin = (sql: string) => onClient(databaseUrl('postgres'), (admin) => admin.query(sql));
  await asAdmin(`CREATE DATABASE ${copy} TEMPLATE ${template}`);
  try {
    return await onClient(databaseUrl(copy), async (client) => {
      const answers: string[] = [];
      for (const sql of statements) answers.push(await rowsOf(client, sql));
      return answers;
    });
  } finally {
    await asAdmin(`DROP DATABASE ${copy} WITH (FORCE)`);
  }
}

async function dropTemplate(servers: TestServers, name: string): Promise<void> {
  await onClient(servers.adminUrl, async (admin) => {
    await admin.query(`UPDATE pg_database SET datistemplate = false WHERE datname = '${name}'`);
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function onClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, application_name: 'mutation' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
