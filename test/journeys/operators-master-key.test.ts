import { randomBytes } from 'node:crypto';
import { createClient } from '@svc/client';
import { serviceNames } from '@svc/local';
import {
  connectScriptedNode,
  createWebhookReceiver,
  startStack,
  testMasterKey,
  waitUntil,
} from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { auditMoney } from '../support/audit.ts';
import { application, clientOf, connectNode, refusal } from '../support/journey.ts';
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

test('while one of two processes of each service has only the old key, a forced rotation loses nothing', async () => {
  const old = testMasterKey();
  const next = `next:${randomBytes(32).toString('base64')}`;
  const both = `${next},${old}`;
  const rings = [old, old];
  const [stack, receiver] = await Promise.all([
    startStack({
      gateways: 2,
      dispatchers: 2,
      settlements: 2,
      webhooks: 2,
      envAt: (index) => ({ SVC_MASTER_KEY: rings[index] ?? old }),
    }),
    createWebhookReceiver(),
  ]);
  onTestFinished(async () => {
    await stack.close();
    await receiver.close();
  });
  const svc = svcOn(stack);
  const rotate = (...words: string[]) =>
    svc.run(['master-key', 'rotate', '--json', ...words], { SVC_MASTER_KEY: both });
  const restart = async (index: number, ring: string): Promise<void> => {
    rings[index] = ring;
    for (const service of serviceNames) {
      await stack.stop(service, index);
      await stack.restart(service, index);
    }
  };
  const missingAt = async (service: (typeof serviceNames)[number], index: number) => {
    const answer = await fetch(`${stack.adminUrl(service, index)}/ready`);
    const { missing }: { missing?: string[] } = JSON.parse(await answer.text());
    return missing?.includes('masterKey') === true;
  };
  const lacking = async (index: number) => {
    const all = await Promise.all(serviceNames.map((service) => missingAt(service, index)));
    return serviceNames.filter((_, place) => all[place]);
  };

  await restart(0, both);
  expect([await lacking(0), await lacking(1)]).toEqual([[], serviceNames]);
  const refused = await rotate();
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  for (const service of serviceNames) expect(refused.stderr).toContain(`${service} on `);
  const forced = await rotate('--force');
  expect(forced.code).toBe(0);
  expect(JSON.parse(forced.stdout).stillSealing).toEqual([old.split(':')[0]]);

  // Both settlements take the jobs, and each event needs an outcome under the new key.
  const env = { SVC_MASTER_KEY: both };
  const created = await svc.run(
    [
      'tenant',
      'create',
      '--name',
      'Acme',
      '--webhook-url',
      receiver.url,
      '--grant',
      '5000',
      '--json',
    ],
    env,
  );
  const tenant = JSON.parse(created.stdout);
  const onOld = clientOf(tenant, stack.gatewayUrls[1] ?? '');
  expect(await refusal(onOld.balance())).toMatchObject({ status: 503, code: 'unavailable' });
  const made = await svc.run(['node', 'create', '--name', 'attic', '--json'], env);
  const { nodeId, nodeSecret: secret } = JSON.parse(made.stdout);
  const node = await connectScriptedNode({ link: stack.nodeLinkUrl, nodeId, secret, slots: 8 });
  onTestFinished(() => node.close());
  node.autoPilot({ outcome: () => ({ failed: { code: 'captcha', message: 'A captcha.' } }) });
  const client = clientOf(tenant, stack.gatewayUrl);
  const ids: string[] = [];
  for (let place = 0; place < 8; place += 1)
    ids.push((await client.submit(application(`key-${place}`))).submissionId);
  for (const id of ids) {
    const { event } = await receiver.waitFor(({ event: one }) => one.data['submissionId'] === id);
    expect(event.type).toBe('submission.failed');
  }
  expect(await auditMoney(stack.query)).toEqual([]);
  expect(await stack.query('SELECT FROM reconcile_failures')).toEqual([]);
  const status = JSON.parse((await svc.run(['status', '--json'], env)).stdout);
  expect(status.ledger?.faults ?? 0).toBe(0);
  for (const index of [0, 1])
    expect(stack.logs('settlement', index).join('\n')).not.toContain('forged');

  await restart(1, both);
  const last = await rotate();
  expect(JSON.parse(last.stdout).stillSealing).toEqual([]);
  await restart(1, next);
  expect([await lacking(0), await lacking(1)]).toEqual([[], []]);
  expect(await onOld.getSubmission(ids[0] ?? '')).toMatchObject({ status: 'failed' });
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
