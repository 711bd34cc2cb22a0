import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type RunningServer, StartError, startPgbouncer } from '@svc/local';
import { createTestDatabase, type TestDatabase } from '@svc/testkit';
import { Client } from 'pg';

/**
 * The most connections from PgBouncer to Postgres. A service may open more connections than this to
 * PgBouncer. Its transactions then share the connections to Postgres.
 */
export const sessionsMax = 4;

export interface PooledDatabase extends TestDatabase {
  /** The URL of Postgres itself, for the role of the services. */
  readonly directUrl: string;
  /** Kills PgBouncer with `kill -9`, and starts it again on the same port. */
  readonly killAndRestart: () => Promise<void>;
  readonly console: (command: string) => Promise<Record<string, unknown>[]>;
}

export async function createPooledDatabase(
  settings: Readonly<Record<string, string>> = {},
): Promise<PooledDatabase> {
  const database = await createTestDatabase();
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-pgbouncer-'));
  const start = (port?: number) =>
    startPgbouncer({
      dir,
      databaseUrl: database.databaseUrl,
      settings: { default_pool_size: `${sessionsMax}`, ...settings },
      ...(port === undefined ? {} : { port }),
    });
  let pgbouncer: RunningServer = await start();
  return {
    ...database,
    databaseUrl: pgbouncer.url,
    directUrl: database.databaseUrl,
    async killAndRestart() {
      process.kill(pgbouncer.pid, 'SIGKILL');
      await pgbouncer.stop();
      pgbouncer = await start(pgbouncer.port);
    },
    async console(command) {
      const url = new URL(pgbouncer.url);
      url.pathname = '/pgbouncer';
      const client = new Client({ connectionString: url.href });
      await client.connect();
      try {
        return (await client.query<Record<string, unknown>>(command)).rows;
      } finally {
        await client.end();
      }
    },
    async close() {
      await pgbouncer.stop();
      rmSync(dir, { recursive: true, force: true });
      await database.close();
    },
  };
}

/**
 * Returns the reason why this machine cannot run PgBouncer, or undefined if it can. Downloads
 * PgBouncer if needed.
 */
export async function whyNoPgbouncer(): Promise<string | undefined> {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-pgbouncer-'));
  try {
    const server = await startPgbouncer({
      dir,
      databaseUrl: 'postgresql://nobody:none@127.0.0.1:1/none',
      onFetch: () => process.stdout.write('Fetching PgBouncer. Later runs use the fetched copy.\n'),
    });
    await server.stop();
    return undefined;
  } catch (error) {
    if (error instanceof StartError) return `${error.message} ${error.advice}`;
    throw error;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
