import { toWireId } from '@svc/domain';
import { claimDue, queueWebhookTest, recordAttempt } from '@svc/store';
import { openFixture } from '@svc/store/fixture';
import { bareEnvironment, type Ran, runSvc, testMasterKey } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

let fixture: Awaited<ReturnType<typeof openFixture>>;

beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(async () => {
  await fixture.close();
});

function svcWebhook(...words: readonly string[]): Promise<Ran> {
  return runSvc(['webhook', ...words], {
    ...bareEnvironment(),
    DATABASE_URL: fixture.database.databaseUrl,
    SVC_MASTER_KEY: testMasterKey(),
  });
}

async function exhausted(): Promise<{ id: string; tenantId: string }> {
  const tenantId = await fixture.tenant(0, 'https://hooks.example.com/');
  await queueWebhookTest(fixture.store, { tenantId, requestId: 'req-1' });
  const [claim] = await claimDue(fixture.store, [{ tenantId, attemptsMax: 1 }]);
  const [attempt] = claim?.attempts ?? [];
  if (attempt === undefined) throw new Error('nothing to claim');
  await recordAttempt(fixture.store, {
    ...attempt,
    statusCode: 500,
    durationMs: 1,
    error: null,
    responseText: 'no',
    verdict: { kind: 'exhausted' },
  });
  return { id: toWireId('dlv', attempt.deliveryId), tenantId: toWireId('tnt', tenantId) };
}

test('deliveries of all tenants can be listed, shown and sent again', async () => {
  const { id, tenantId } = await exhausted();
  await exhausted();
  const listed = await svcWebhook('list', '--tenant', tenantId, '--status', 'exhausted', '--json');
  expect(JSON.parse(listed.stdout)).toMatchObject([{ id, tenantId, type: 'webhook.test' }]);
  const { stdout } = await svcWebhook('list');
  expect(stdout.split('\n').length).toBeGreaterThanOrEqual(3);
  const shown = await svcWebhook('show', id, '--json');
  expect(JSON.parse(shown.stdout)).toMatchObject({
    id,
    status: 'exhausted',
    attempts: [{ number: 1, statusCode: 500, response: 'no' }],
  });
  const sent = await svcWebhook('redeliver', id, '--json');
  expect(JSON.parse(sent.stdout)).toMatchObject({ id, status: 'pending', attempts: [] });
});

test('a recovery sends deliveries again once that were exhausted since a time', async () => {
  await exhausted();
  await exhausted();
  const early = await svcWebhook('recover', '--since', '2099-01-01T00:00Z', '--json');
  expect(JSON.parse(early.stdout)).toMatchObject({ recovered: 0 });
  const first = await svcWebhook('recover', '--since', '1h', '--json');
  expect(JSON.parse(first.stdout).recovered).toBeGreaterThanOrEqual(2);
  const again = await svcWebhook('recover', '--since', '1h', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ recovered: 0 });
});

test('an unknown delivery and an invalid time are refused with a reason', async () => {
  const unknown = await svcWebhook('show', toWireId('dlv', fixture.store.newId()));
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('no such delivery') });
  for (const since of ['yesterday', '2026-02-31', '2026-11-21T09:30:00', '2026-11-21 (x)']) {
    const wrong = await svcWebhook('recover', '--since', since);
    const stderr = expect.stringContaining('2026-11-21T09:30:00Z');
    expect(wrong, since).toMatchObject({ code: 2, stderr });
  }
  const missing = await svcWebhook('recover');
  expect(missing.code).toBe(2);
});
