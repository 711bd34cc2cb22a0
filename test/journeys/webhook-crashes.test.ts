import { fromWireId } from '@svc/domain';
import { createSealer, openKeyring } from '@svc/signing';
import { createWebhookReceiver, startStack, testMasterKey, waitUntil } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { openAccounts } from '../support/accounts.ts';
import { writeDeliveries } from '../support/deliveries.ts';

/**
 * The number of deliveries. `SVC_WEBHOOK_CRASH_DELIVERIES=10000 pnpm vitest
 * test/journeys/webhook-crashes.test.ts` runs the test with 10,000.
 */
const deliveriesMax = Number(process.env['SVC_WEBHOOK_CRASH_DELIVERIES'] ?? 1_500);
const tenantsMax = 20;
const attemptsMax = 8;
const claimMs = 30_000;

test('FLUSHALL and kill -9 of each deliverer at work: every event arrives, none more often than the schedule allows', async () => {
  const stack = await startStack({ gateways: 0, dispatchers: 0, settlements: 0, webhooks: 2 });
  const receiver = await createWebhookReceiver();
  const accounts = openAccounts(stack);
  onTestFinished(async () => {
    await accounts.close();
    await stack.close();
    await receiver.close();
  });
  // About one delivery in 32 gets a 500 at its first attempt, so some attempts are retries.
  receiver.answerWith(({ deliveryId, attempt }) => ({
    status: attempt === 1 && deliveryId.endsWith('0') ? 500 : 204,
  }));
  const tenants = await Promise.all(
    Array.from({ length: tenantsMax }, () => accounts.tenant({ webhookUrl: receiver.url })),
  );
  const uuids = tenants.map(({ tenantId }) => fromWireId('tnt', tenantId) ?? '');
  const sealer = createSealer(openKeyring(testMasterKey()));
  const { query } = stack;
  await writeDeliveries({ sealer, query }, uuids, deliveriesMax);

  const arrived = (share: number) =>
    waitUntil(() => receiver.received.length >= deliveriesMax * share, { timeoutMs: 60_000 });
  await arrived(0.2);
  await Promise.all([stack.flushRedis(), stack.kill('webhooks', 0)]);
  await stack.restart('webhooks', 0);
  await arrived(0.5);
  await Promise.all([stack.flushRedis(), stack.kill('webhooks', 1)]);
  await stack.restart('webhooks', 1);
  await arrived(0.8);
  await stack.kill('webhooks', 0);
  await stack.kill('webhooks', 1);
  await stack.restart('webhooks', 0);

  const pending = async () =>
    (await query(`SELECT 1 FROM deliveries WHERE status = 'pending'`)).length;
  const due = async () =>
    (await query(`SELECT 1 FROM deliveries WHERE next_attempt_at <= svc_now() LIMIT 1`)).length;
  // Deliveries claimed by the killed processes are due again when their claims expire.
  for (let round = 0; (await pending()) > 0 && round < attemptsMax; round += 1) {
    await waitUntil(async () => (await due()) === 0, { timeoutMs: 60_000 });
    await stack.advanceClock(claimMs * 3);
    await waitUntil(async () => (await due()) === 0, { timeoutMs: 60_000 });
  }
  await waitUntil(async () => (await pending()) === 0, { timeoutMs: 60_000 });

  const ids = new Set(receiver.received.map(({ deliveryId }) => deliveryId));
  expect(ids.size).toBe(deliveriesMax);
  const made = receiver.received.map(({ deliveryId, attempt }) => `${deliveryId} ${attempt}`);
  expect(new Set(made).size).toBe(made.length);
  expect(receiver.received.every(({ attempt }) => attempt <= attemptsMax)).toBe(true);
  expect(await query(`SELECT status FROM deliveries GROUP BY status`)).toEqual([
    { status: 'delivered' },
  ]);
  // The claim of an attempt inserts its row, even if the request then does not arrive. If the
  // process is killed before it records the result, `recorded_at` stays null.
  const [logged] = await query<{ attempts: number; lost: number; most: number }>(
    `SELECT count(*)::int AS attempts, (count(*) FILTER (WHERE recorded_at IS NULL))::int AS lost,
       max(number) AS most FROM delivery_attempts`,
  );
  expect(logged?.attempts).toBeGreaterThanOrEqual(made.length);
  expect(logged?.most).toBeLessThanOrEqual(attemptsMax);
});
