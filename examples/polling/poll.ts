/**
 * Brings your own records up to date without webhooks. It reads the submissions that your records
 * show as open, and stores how they ended. Run it every minute.
 */
import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@svc/client';

const { SVC_URL = '', SVC_TENANT = '', SVC_SECRET = '', DATABASE = 'records.db' } = process.env;
const client = createClient({ baseUrl: SVC_URL, tenantId: SVC_TENANT, secret: SVC_SECRET });
const records = new DatabaseSync(DATABASE);
const ended = ['submitted', 'failed', 'cancelled'];

const open = records
  .prepare(`SELECT key FROM submissions WHERE status NOT IN ('submitted', 'failed', 'cancelled')`)
  .all();
const update = records.prepare(
  'UPDATE submissions SET id = ?, status = ?, charged = ? WHERE key = ?',
);

let changed = 0;
for (const { key } of open) {
  const idempotencyKey = String(key);
  // Find the submission by its idempotency key. Your record has no submission id if your program
  // stopped before it got the answer to its `POST /v1/submissions`.
  const [found] = (await client.listSubmissions({ idempotencyKey, limit: 1 }).page()).data;
  if (found === undefined) {
    console.log(
      `${idempotencyKey}: the service does not know it. Send it again with the same key.`,
    );
  } else if (ended.includes(found.status)) {
    update.run(found.id, found.status, found.actualCredits, idempotencyKey);
    changed += 1;
    console.log(`${idempotencyKey}: ${found.status}`);
  }
}
console.log(`${open.length} open, ${changed} ended.`);
