import { randomBytes } from 'node:crypto';
import { createClient } from '@svc/client';
import { createWebhookReceiver, startStack, testMasterKey, waitUntil } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { application, connectNode } from '../support/journey.ts';
import { svcOn } from '../support/svc.ts';

test('svc seals everything under a new key while the services run, and then the old key can be removed', async () => {
  const old = testMasterKey();
  const next = `next:${randomBytes(32).toString('base64')}`;
  // Step 2 of "Rotate the master key" in docs/OPERATIONS.md gives both keys to every service.
  const [stack, receiver] = await Promise.all([
    startStack({ env: { SVC_MASTER_KEY: `${old},${next}` } }),
    createWebhookReceiver(),
  ]);
  onTestFinished(async () => {
    await stack.close();
    await receiver.close();
  });
  const svc = svcOn(stack);
  const tenant = await stack.createTenant({ webhookUrl: receiver.url });
  const client = createClient({
    baseUrl: stack.gatewayUrl,
    tenantId: tenant.tenantId,
    secret: tenant.hmacSecret,
  });
  const node = await connectNode({ stack }, { slots: 4 });
  node.autoPilot();
  const first = await client.submit(application('before'));
  await receiver.waitFor(({ event }) => event.data['submissionId'] === first.submissionId);

  const ring = { SVC_MASTER_KEY: `${next},${old}` };
  const rotation = await svc.run(['master-key', 'rotate', '--json'], ring);
  expect(rotation).toMatchObject({ code: 0, stderr: '' });
  const { keyId, resealed } = JSON.parse(rotation.stdout);
  expect(keyId).toBe('next');
  const counts = new Map<string, number>(
    resealed.map((one: { column: string; resealed: number }) => [one.column, one.resealed]),
  );
  for (const column of ['environment.request_hash_key_sealed', 'tenant_secrets.sealed']) {
    expect(counts.get(column)).toBeGreaterThan(0);
  }
  expect(counts.get('events.body_sealed')).toBe(1);

  // The services still seal under the old key, but they can also read values that are sealed under
  // the new key.
  await stack.restart('gateway');
  await stack.restart('webhooks');
  const again = await client.submit(application('before'));
  expect(again).toMatchObject({ submissionId: first.submissionId, idempotent: true });
  const second = await client.submit(application('after'));
  await receiver.waitFor(({ event }) => event.data['submissionId'] === second.submissionId);

  // A second run reseals only the values that were sealed after the first run.
  const rest = JSON.parse((await svc.run(['master-key', 'rotate', '--json'], ring)).stdout);
  const left = rest.resealed.filter((one: { resealed: number }) => one.resealed > 0);
  expect(left.map((one: { column: string }) => one.column)).toContain('events.body_sealed');
  expect(left.map((one: { column: string }) => one.column)).not.toContain('tenant_secrets.sealed');
  const withoutOld = { SVC_MASTER_KEY: next };
  const alone = await svc.run(['submission', 'show', second.submissionId], withoutOld);
  expect(alone).toMatchObject({ code: 0 });
  expect(await svc.run(['status'])).toMatchObject({ code: 2, stdout: '' });
  await waitUntil(async () => (await svc.run(['tenant', 'list'], withoutOld)).code === 0);
});

test('a rotation without a key that is needed says so and changes nothing', async () => {
  const stack = await startStack({ gateways: 0, dispatchers: 0, settlements: 0, webhooks: 0 });
  onTestFinished(() => stack.close());
  const svc = svcOn(stack);
  await stack.createTenant();
  const SVC_MASTER_KEY = `next:${randomBytes(32).toString('base64')}`;
  const refused = await svc.run(['master-key', 'rotate'], { SVC_MASTER_KEY });
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('SVC_MASTER_KEY');
  expect(await svc.run(['tenant', 'list'])).toMatchObject({ code: 0 });
});
