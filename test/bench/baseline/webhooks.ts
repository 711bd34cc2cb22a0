import { toWireId } from '@svc/domain';
import { signWebhook } from '@svc/signing';
import got from 'got';
import { deliveredStatement, eventStatement, one, openPool } from './database.ts';
import { hops, sayReady, setting, work } from './process.ts';

const answerMs = 15_000;

const pool = openPool(setting('DATABASE_URL'));

interface EventRow {
  readonly body: string;
  readonly webhook_url: string;
  readonly webhook_secret: string;
}

work(hops.webhook, async ({ eventId }) => {
  const event = await one<EventRow>(pool, eventStatement, [eventId]);
  if (event === undefined) return;
  const id = toWireId('dlv', eventId);
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  const { body, webhook_secret: secret } = event;
  await got.post(event.webhook_url, {
    body,
    followRedirect: false,
    retry: { limit: 0 },
    timeout: { request: answerMs },
    headers: {
      'content-type': 'application/json',
      'x-svc-delivery': id,
      'x-svc-attempt': '1',
      'webhook-id': id,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': signWebhook({ secrets: [secret], id, timestampSeconds, body }),
    },
  });
  await pool.query({ ...deliveredStatement, values: [eventId] });
});
sayReady();
