import { Client, escapeIdentifier } from 'pg';

/**
 * Locks tables as another session would, `ACCESS SHARE` as `pg_dump` does. Returns the function that
 * releases them.
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
