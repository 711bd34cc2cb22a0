import { Client } from 'pg';

/**
 * Locks the row of a submission. Transactions that change the submission then wait. Returns the
 * function that unlocks the row.
 */
export async function lockSubmission(
  databaseUrl: string,
  id: string,
): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: databaseUrl, application_name: 'testkit' });
  // An error is ignored, because the database may be dropped while this connection is open.
  client.on('error', () => {});
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT 1 FROM submissions WHERE id = $1 FOR UPDATE', [id]);
  return () => client.end();
}
