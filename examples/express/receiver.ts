import { DatabaseSync } from 'node:sqlite';
import { verifyWebhook } from '@svc/client';
import express from 'express';

const secret = process.env['SVC_WEBHOOK_SECRET'] ?? '';
const database = new DatabaseSync(process.env['DATABASE'] ?? 'webhooks.db');
database.exec('CREATE TABLE IF NOT EXISTS deliveries (id TEXT PRIMARY KEY)');
const remember = database.prepare('INSERT OR IGNORE INTO deliveries VALUES (?)');

const app = express();

// express.raw keeps the bytes as they came. express.json would make the signature unverifiable.
app.post('/', express.raw({ type: '*/*', limit: '1mb' }), async (request, response) => {
  const { headers, body } = request;
  const verified = await verifyWebhook({ secret, headers, body }).catch(() => undefined);
  if (verified === undefined) {
    response.sendStatus(400);
    return;
  }
  database.exec('BEGIN IMMEDIATE');
  const isNew = remember.run(verified.deliveryId).changes === 1;
  // If `isNew`, change your own records here, in the same transaction.
  console.log(isNew ? 'new' : 'seen before', verified.event.type);
  database.exec('COMMIT');
  response.sendStatus(204);
});

app.listen(Number(process.env['PORT'] ?? 9000));
