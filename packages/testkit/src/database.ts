import { randomUUID } from 'node:crypto';
import { escapeLiteral, Pool, type QueryResultRow } from 'pg';
import { testServers } from './test-environment.ts';
import { waitUntil } from './wait-until.ts';

export interface TestDatabase {
  /** The address for the services' role. */
  readonly databaseUrl: string;
  /** The address for the owner of the tables. Migrations use this address. */
  readonly ownerUrl: string;
  /** Runs SQL as the owner of the database, without the store. Returns the rows. */
  readonly query: <Row extends QueryResultRow>(sql: string, values?: unknown[]) => Promise<Row[]>;
  /** Copies the database, as a backup and its restore do. Close all stores on it before. */
  copy(): Promise<TestDatabase>;
  /**
   * Waits up to `leakBoundMs` for all sessions to end, and drops the database. Throws if a session
   * was still open.
   */
  close(): Promise<void>;
}

/** The time that a connection may take to disappear after its pool has ended. */
const leakBoundMs = 2_000;
const applicationName = 'testkit';

export interface TestDatabaseOptions {
  /**
   * The time zone of the owner's sessions, such as `Europe/Berlin`. The default is UTC, the time
   * zone of the server. The services' role keeps UTC (`roleSettings`).
   */
  readonly timeZone?: string;
}

/** Creates a migrated database (about 15 ms of CPU). */
export async function createTestDatabase({
  timeZone,
}: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const name = await createFrom(testServers().template);
  if (timeZone !== undefined)
    await admin().query(`ALTER DATABASE ${name} SET timezone = ${escapeLiteral(timeZone)}`);
  return openDatabase(name);
}

async function createFrom(template: string): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await admin().query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  return name;
}

function openDatabase(name: string): TestDatabase {
  const databaseUrl = withDatabase(testServers().serviceUrl, name);
  const ownerUrl = withDatabase(testServers().adminUrl, name);
  const openPool = () =>
    new Pool({ connectionString: ownerUrl, max: 2, application_name: applicationName });
  let pool = openPool();
  return {
    databaseUrl,
    ownerUrl,
    async query<Row extends QueryResultRow>(sql: string, values: unknown[] = []) {
      return (await pool.query<Row>(sql, values)).rows;
    },
    async copy() {
      await pool.end();
      await lingeringSessions(name);
      const copy = await createFrom(name);
      pool = openPool();
      return openDatabase(copy);
    },
    async close() {
      await pool.end();
      const leaked = await lingeringSessions(name);
      await admin().query(`DROP DATABASE ${name} WITH (FORCE)`);
      if (leaked !== undefined)
        throw new Error(
          `the test left these database sessions open: ${leaked}; close them before you close the database`,
        );
    },
  };
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

let adminPool: Pool | undefined;

/**
 * The connections that create and drop test databases. All test files of a Vitest worker share
 * them, because Postgres starts a process for each new connection.
 */
function admin(): Pool {
  adminPool ??= new Pool({
    connectionString: testServers().adminUrl,
    application_name: applicationName,
    max: 2,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  });
  return adminPool;
}

async function lingeringSessions(name: string): Promise<string | undefined> {
  const sessions = async () => {
    const result = await admin().query<{ application_name: string }>(
      'SELECT application_name FROM pg_stat_activity WHERE datname = $1',
      [name],
    );
    return result.rows.map((row) => row.application_name || 'a session without a name');
  };
  try {
    await waitUntil(async () => (await sessions()).length === 0, {
      what: 'the last session to end',
      timeoutMs: leakBoundMs,
    });
    return undefined;
  } catch {
    return (await sessions()).join(', ') || undefined;
  }
}
