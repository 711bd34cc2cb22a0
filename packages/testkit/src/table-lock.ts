import { Client, escapeIdentifier } from 'pg';

/**
 * Returns the function that unlocks the tables. `ACCESS SHARE` is the lock that `pg_dump` takes.
 * `ACCESS EXCLUSIVE` blocks every other use.
 */
export async function lockTables(
  databaseUrl: string,
  tables: readonly string[],
  mode: 'ACCESS SHARE' | 'ACCESS EXCLUSIVE',
): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: databaseUrl, application_name: 'testkit' });
  await client.connect();
  await client.query('BEGIN');
  const names = tables.map((table) => `ONLY ${escapeIdentifier(table)}`).join(', ');
  await client.query(`LOCK TABLE ${names} IN ${mode} MODE`);
  return () => client.end();
}
