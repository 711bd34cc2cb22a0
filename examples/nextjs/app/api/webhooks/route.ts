import { DatabaseSync } from 'node:sqlite';
import { verifyWebhook } from '@svc/client';

export const runtime = 'nodejs';

const database = new DatabaseSync(process.env['DATABASE'] ?? 'webhooks.db');
database.exec('CREATE TABLE IF NOT EXISTS deliveries (id TEXT PRIMARY KEY)');
const remember = database.prepare('INSERT OR IGNORE INTO deliveries VALUES (?)');

export async function POST(request: Request): Promise<Response> {
  const secret = process.env['SVC_WEBHOOK_SECRET'] ?? '';
  // The bytes as they came. request.json() would make the signature unverifiable.
  const body = new Uint8Array(await request.arrayBuffer());
  const { headers } = request;
  const verified = await verifyWebhook({ secret, headers, body }).catch(() => undefined);
  if (verified === undefined) return new Response(null, { status: 400 });
  database.exec('BEGIN IMMEDIATE');
  const isNew = remember.run(verified.deliveryId).changes === 1;
  // If `isNew`, change your own records here, in the same transaction.
  console.log(isNew ? 'new' : 'seen before', verified.event.type);
  database.exec('COMMIT');
  return new Response(null, { status: 204 });
}
