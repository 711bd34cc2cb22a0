import { DatabaseSync } from 'node:sqlite';
import { verifyWebhook } from '@svc/client';
import Fastify from 'fastify';

const secret = process.env['SVC_WEBHOOK_SECRET'] ?? '';
const database = new DatabaseSync(process.env['DATABASE'] ?? 'webhooks.db');
database.exec('CREATE TABLE IF NOT EXISTS deliveries (id TEXT PRIMARY KEY)');
const remember = database.prepare('INSERT OR IGNORE INTO deliveries VALUES (?)');

const app = Fastify({ bodyLimit: 1_048_576 });

// This parser keeps the bytes as they came. If your app has other routes, put the next two
// statements and this route into a plugin, because the other routes need their own parsers.
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

app.post<{ Body: Buffer }>('/', async (request, reply) => {
  const { headers, body } = request;
  const verified = await verifyWebhook({ secret, headers, body }).catch(() => undefined);
  if (verified === undefined) return reply.code(400).send();
  database.exec('BEGIN IMMEDIATE');
  const isNew = remember.run(verified.deliveryId).changes === 1;
  // If `isNew`, change your own records here, in the same transaction.
  console.log(isNew ? 'new' : 'seen before', verified.event.type);
  database.exec('COMMIT');
  return reply.code(204).send();
});

await app.listen({ port: Number(process.env['PORT'] ?? 9000), host: '0.0.0.0' });
