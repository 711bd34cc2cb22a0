import { toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { one, openPool, settleStatement } from './database.ts';
import { openQueue, hops, sayReady, setting, work } from './process.ts';

const pool = openPool(setting('DATABASE_URL'));
const webhooks = openQueue(hops.webhook);

work(hops.settlement, async ({ submissionId }) => {
  const eventId = newId();
  const settled = await one<{ webhook_url: string | null }>(pool, settleStatement, [
    submissionId,
    eventId,
    toWireId('evt', eventId),
    new Date().toISOString(),
    toWireId('sub', submissionId),
  ]);
  if (settled === undefined || settled.webhook_url === null) return;
  await webhooks.add('deliver', { eventId }, { attempts: 8, backoff: 5_000 });
});
sayReady();
