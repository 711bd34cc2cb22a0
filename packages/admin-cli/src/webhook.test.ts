import { toWireId } from '@svc/domain';
import { closeRedis, connectRedis, createProducer, waitForRedis } from '@svc/queue';
import { claimDue, queueWebhookTest, recordAttempt } from '@svc/store';
import { openFixture } from '@svc/store/fixture';
import {
  bareEnvironment,
  type Ran,
  runSvc,
  startTestRedis,
  testMasterKey,
  type TestRedis,
} from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

let fixture: Awaited<ReturnType<typeof openFixture>>;
let server: TestRedis;
let redis: ReturnType<typeof connectRedis>;

beforeAll(async () => {
  [fixture, server] = await Promise.all([openFixture(), startTestRedis()]);
  redis = connectRedis(server.redisUrl, 'producer');
  await waitForRedis(redis, 5_000);
});
afterAll(async () => {
  await closeRedis(redis);
  await Promise.all([server.close(), fixture.close()]);
});

function svc(...words: readonly string[]): Promise<Ran> {
  return runSvc(words, {
    ...bareEnvironment(),
    DATABASE_URL: fixture.database.databaseUrl,
    REDIS_URL: server.redisUrl,
    SVC_MASTER_KEY: testMasterKey(),
  });
}

const svcWebhook = (...words: readonly string[]): Promise<Ran> => svc('webhook', ...words);

/**
 * Empties Redis, then runs `svc`. Returns how many wake-up jobs of the webhooks service wait
 * afterwards.
 */
async function wakeUpsAfter(...words: readonly string[]): Promise<number> {
  await redis.flushall();
  expect((await svc(...words)).code).toBe(0);
  const producer = createProducer({ redis, prefix: 'svc' });
  try {
    return await producer.countWaiting('webhook');
  } finally {
    await producer.close();
  }
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

test('commands that make a delivery due wake the webhooks service', async () => {
  const { id, tenantId } = await exhausted();
  const rotation = ['tenant', 'rotate-secret', tenantId, '--hmac'];
  expect(await wakeUpsAfter(...rotation)).toBe(1);
  expect(await wakeUpsAfter('webhook', 'redeliver', id)).toBe(1);
  await exhausted();
  expect(await wakeUpsAfter('webhook', 'recover', '--since', '1h', '--yes')).toBe(1);
});

test('a Redis that refuses writes hides neither a new secret nor a committed change', async () => {
  const { id, tenantId } = await exhausted();
  await redis.config('SET', 'min-replicas-to-write', '1');
  try {
    const rotated = await svc('tenant', 'rotate-secret', tenantId, '--hmac', '--json');
    expect(rotated).toMatchObject({ code: 0, stderr: expect.stringContaining('NOREPLICAS') });
    expect(JSON.parse(rotated.stdout)).toMatchObject({
      hmacSecret: expect.stringMatching(/^hsk_test_/),
    });
    const sent = await svcWebhook('redeliver', id, '--json');
    expect(sent).toMatchObject({ code: 0, stderr: expect.stringContaining('NOREPLICAS') });
  } finally {
    await redis.config('SET', 'min-replicas-to-write', '0');
  }
});

test('an unknown delivery and an invalid time are refused with a reason', async () => {
  const unknown = await svcWebhook('show', toWireId('dlv', fixture.store.newId()));
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('no such delivery') });
  const times = ['yesterday', '2026-02-31', '2026-11-21T09:30:00', '2026-11-21 (x)'];
  const refused = await Promise.all(times.map((since) => svcWebhook('recover', '--since', since)));
  const stderr = expect.stringContaining('2026-11-21T09:30:00Z');
  expect(refused).toEqual(times.map(() => expect.objectContaining({ code: 2, stderr })));
  const missing = await svcWebhook('recover');
  expect(missing.code).toBe(2);
});
