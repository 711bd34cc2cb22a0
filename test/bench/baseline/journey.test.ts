import { randomBytes } from 'node:crypto';
import { createClient } from '@svc/client';
import {
  connectScriptedNode,
  createTestDatabase,
  createWebhookReceiver,
  sendSigned,
  startStack,
  startTestRedis,
  type TenantCredentials,
  verifyWebhook,
  type WebhookReceiver,
} from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { application, refusal } from '../../support/journey.ts';
import { startBaseline } from './start.ts';

/** The benchmark may compare product and baseline because both pass this test. */

interface System {
  readonly gatewayUrl: string;
  readonly nodeLinkUrl: string;
  readonly node: { readonly nodeId: string; readonly nodeSecret: string };
  createTenant(webhookUrl: string, credits: number): Promise<TenantCredentials>;
}

async function product(): Promise<System> {
  const stack = await startStack();
  onTestFinished(() => stack.close());
  return {
    gatewayUrl: stack.gatewayUrl,
    nodeLinkUrl: stack.nodeLinkUrl,
    node: await stack.createNode('scripted'),
    createTenant: (webhookUrl, grantCredits) => stack.createTenant({ webhookUrl, grantCredits }),
  };
}

async function baseline(): Promise<System> {
  const [database, redis] = await Promise.all([createTestDatabase(), startTestRedis()]);
  const running = await startBaseline({ databaseUrl: database.ownerUrl, redisUrl: redis.redisUrl });
  onTestFinished(async () => {
    await running.close();
    await Promise.all([database.close(), redis.close()]);
  });
  return {
    ...running,
    node: { nodeId: 'nod_01kajh8z2wf5xav9c3q7m4n6rt', nodeSecret: 'none' },
    createTenant: (webhookUrl, credits) => running.createTenant({ webhookUrl, credits }),
  };
}

async function connectPilot(system: System): Promise<void> {
  const { nodeId, nodeSecret: secret } = system.node;
  const node = await connectScriptedNode({ link: system.nodeLinkUrl, nodeId, secret, slots: 100 });
  node.autoPilot({
    outcome: () => ({ completed: { confirmationId: 'A-1' }, usage: { actions: 7 } }),
  });
  onTestFinished(() => node.close());
}

async function openReceiver(): Promise<WebhookReceiver> {
  const receiver = await createWebhookReceiver();
  onTestFinished(() => receiver.close());
  return receiver;
}

test.each([
  ['the product', product],
  ['the baseline', baseline],
] as const)('%s takes a submission through its whole life', async (_name, start) => {
  const [system, receiver] = await Promise.all([start(), openReceiver()]);
  await connectPilot(system);
  const tenant = await system.createTenant(receiver.url, 500);
  const { tenantId, hmacSecret: secret } = tenant;
  const client = createClient({
    baseUrl: system.gatewayUrl,
    tenantId,
    secret,
    maxRetries: 0,
  });

  const created = await client.submit(application('first'));
  expect(created).toMatchObject({
    status: 'dispatched',
    quote: { max: 200, surge: 1 },
    balance: { after: 300, held: 200 },
  });
  const { submissionId } = created;
  const webhook = await receiver.waitFor(({ event }) => event.type === 'submission.completed');
  verifyWebhook(webhook, tenant.webhookSecret);
  expect(webhook.event.data).toEqual({
    submissionId,
    jobType: 'ats.application',
    tier: 'standard',
    status: 'submitted',
    actualCredits: 23.5,
    refundedCredits: 176.5,
  });
  const ended = await client.waitFor(submissionId, { timeoutMs: 10_000 });
  expect(ended).toMatchObject({ status: 'submitted', actualCredits: 23.5, refundedCredits: 176.5 });
  expect(await client.balance()).toMatchObject({ balance: 476.5, held: 0, available: 476.5 });

  expect(await client.submit(application('first'))).toEqual({ ...created, idempotent: true });
  const conflict = await refusal(client.submit(application('first', 'greenhouse')));
  expect(conflict).toMatchObject({ status: 409, code: 'idempotency_key_conflict' });

  // The balance of 476.5 credits covers two holds of 200 at a time.
  const more = await Promise.allSettled(
    ['a', 'b', 'c', 'd'].map((key) => client.submit(application(key))),
  );
  expect(more.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(2);
  expect((await client.balance()).balance).toBeGreaterThan(0);

  const target = '/v1/credits/balance';
  const request = { baseUrl: system.gatewayUrl, method: 'GET', target, tenantId };
  const forged = await sendSigned({ ...request, secret: randomBytes(32).toString('hex') });
  expect(forged.status).toBe(401);
  expect((await sendSigned({ ...request, secret })).status).toBe(200);
  const unreadable = await refusal(client.submit({ ...application('bad'), jobType: 'unheard.of' }));
  expect(unreadable.status).toBe(422);
});
