import { Client } from 'pg';

/**
 * Holds a submission's row, so that whoever commits to it waits until what this answers is called. A
 * test that never calls it holds the row until its database is dropped.
 */
export async function lockSubmission(
  databaseUrl: string,
  id: string,
): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: databaseUrl, application_name: 'testkit' });
  // The database may be dropped first.
  client.on('error', () => {});
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT 1 FROM submissions WHERE id = $1 FOR UPDATE', [id]);
  return () => client.end();
}
