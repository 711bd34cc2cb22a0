import { Client } from 'pg';

/**
 * Locks a submission's row, so that commits to it wait. Returns the function that unlocks the row.
 * If a test never calls it, the row stays locked until its database is dropped.
 */
export async function lockSubmission(
  databaseUrl: string,
  id: string,
): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: databaseUrl, application_name: 'testkit' });
  // The database may be dropped before the connection ends.
  client.on('error', () => {});
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT 1 FROM submissions WHERE id = $1 FOR UPDATE', [id]);
  return () => client.end();
}
