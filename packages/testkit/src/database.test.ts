import { Client } from 'pg';
import { expect, it } from 'vitest';
import { advanceDatabaseClock, setDatabaseClockOffset } from './database-clock.ts';
import { createTestDatabase } from './database.ts';

it('gives every caller a separate migrated database', async () => {
  const [one, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  expect(one.databaseUrl).not.toBe(other.databaseUrl);
  const tables = await one.query<{ found: string | null }>(
    `SELECT to_regclass('submissions') AS found`,
  );
  expect(tables).toStrictEqual([{ found: 'submissions' }]);
  await Promise.all([one.close(), other.close()]);
});

it('names the sessions that left a database open', async () => {
  const database = await createTestDatabase();
  const leak = new Client({
    connectionString: database.databaseUrl,
    application_name: 'forgetful',
  });
  leak.on('error', () => {});
  await leak.connect();
  await expect(database.close()).rejects.toThrow('sessions open: forgetful');
  await leak.end().catch(() => {});
});

it('moves the clock of a database by whole milliseconds, also for prepared statements', async () => {
  const database = await createTestDatabase();
  const ahead = async () => {
    const rows = await database.query<{ ms: number }>(
      `SELECT round(extract(epoch FROM svc_now() - now()) * 1000)::int AS ms`,
    );
    return rows[0]?.ms ?? Number.NaN;
  };
  expect(await ahead()).toBeLessThanOrEqual(0);
  await advanceDatabaseClock(database.databaseUrl, 60_000);
  await advanceDatabaseClock(database.databaseUrl, 5_000);
  expect(Math.abs((await ahead()) - 65_000)).toBeLessThan(1_000);
  await setDatabaseClockOffset(database.databaseUrl, 0);
  expect(Math.abs(await ahead())).toBeLessThan(1_000);
  await database.close();
});
