import { Client } from 'pg';
import { testServers } from './test-environment.ts';

const nowFunction = 'svc_now()';

/**
 * Sets the clock of one database, `svc_now`, to the real time plus `offsetMs`. Leases, deadlines
 * and metering use this clock.
 */
export async function setDatabaseClockOffset(databaseUrl: string, offsetMs: number): Promise<void> {
  await withClient(databaseUrl, (client) => writeOffset(client, offsetMs));
}

export async function advanceDatabaseClock(databaseUrl: string, ms: number): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    await writeOffset(client, (await readOffset(client)) + ms);
  });
}

/** Stops the clock of one database at `at`. `setDatabaseClockOffset` starts it again. */
export async function stopDatabaseClock(databaseUrl: string, at: Date): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    await client.query(`
      CREATE OR REPLACE FUNCTION ${nowFunction} RETURNS timestamptz
        LANGUAGE sql STABLE PARALLEL SAFE RETURN '${at.toISOString()}'::timestamptz`);
  });
}

async function withClient(
  databaseUrl: string,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  // Connects as the owner of the database, because only the owner may replace `svc_now`.
  const url = new URL(testServers().adminUrl);
  url.pathname = new URL(databaseUrl).pathname;
  const client = new Client({ connectionString: url.href, application_name: 'testkit' });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function readOffset(client: Client): Promise<number> {
  const result = await client.query<{ comment: string | null }>(
    `SELECT obj_description('${nowFunction}'::regprocedure) AS comment`,
  );
  return Number(result.rows[0]?.comment ?? 0);
}

async function writeOffset(client: Client, offsetMs: number): Promise<void> {
  const offset = Math.trunc(offsetMs);
  await client.query(`
    CREATE OR REPLACE FUNCTION ${nowFunction} RETURNS timestamptz
      LANGUAGE sql STABLE PARALLEL SAFE
      RETURN date_trunc('milliseconds', statement_timestamp()) + interval '${offset} milliseconds';
    COMMENT ON FUNCTION ${nowFunction} IS '${offset}'`);
}
