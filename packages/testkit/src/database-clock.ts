import { Client } from 'pg';
import { testServers } from './test-environment.ts';

const nowFunction = 'svc_now()';

/**
 * Moves the time of one database, which is the time that leases, deadlines and metering go by,
 * to `offsetMs` from the real one. It affects every statement that begins from now on.
 */
export async function setDatabaseClockOffset(databaseUrl: string, offsetMs: number): Promise<void> {
  await withClient(databaseUrl, (client) => writeOffset(client, offsetMs));
}

/** Moves the time of one database by `ms` from where it is (see setDatabaseClockOffset). */
export async function advanceDatabaseClock(databaseUrl: string, ms: number): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    await writeOffset(client, (await readOffset(client)) + ms);
  });
}

async function withClient(
  databaseUrl: string,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  // Only the owner may replace the function.
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

/** The offset is kept as the function's comment, so that whoever moves the clock next finds it. */
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
