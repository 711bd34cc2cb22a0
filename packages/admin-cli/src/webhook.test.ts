import { execFile } from 'node:child_process';
import path from 'node:path';
import { toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import {
  assertReady,
  claimDue,
  openStore,
  createTenant,
  queueWebhookTest,
  recordAttempt,
  type Store,
} from '@svc/store';
import { bareEnvironment, createTestDatabase, testMasterKey } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const entry = path.join(import.meta.dirname, 'main.ts');
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let store: Store;

beforeAll(async () => {
  database = await createTestDatabase();
  const sealer = createSealer(openKeyring(testMasterKey()));
  store = openStore({ databaseUrl: database.databaseUrl, sealer, newId });
  await assertReady(store, 'sandbox');
});
afterAll(async () => {
  await store.close();
  await database.close();
});

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `svc webhook` in a separate process, as an operator would. */
function svcWebhook(...words: readonly string[]): Promise<Ran> {
  const env = {
    ...bareEnvironment(),
    DATABASE_URL: database.databaseUrl,
    SVC_MASTER_KEY: testMasterKey(),
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [entry, 'webhook', ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const by = { actor: { kind: 'local', name: 'test' }, requestId: 'test' } as const;

/** Creates an exhausted delivery. Returns its id and its tenant's, as on the wire. */
async function exhausted(): Promise<{ id: string; tenantId: string }> {
  const tenantId = newId();
  const tenant = {
    id: tenantId,
    name: 'Example Works',
    allowedJobTypes: [],
    webhookUrl: 'https://hooks.example.com/',
    hmacSecret: 'hsk_test_1',
    webhookSecret: 'whsec_MQ==',
  };
  await createTenant(store, tenant, 0n, by);
  await queueWebhookTest(store, { tenantId, requestId: 'req-1' });
  const [claim] = await claimDue(store, [{ tenantId, attemptsMax: 1 }]);
  const [attempt] = claim?.attempts ?? [];
  if (attempt === undefined) throw new Error('nothing to claim');
  await recordAttempt(store, {
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
  const unknown = await svcWebhook('show', toWireId('dlv', newId()));
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('no such delivery') });
  const wrong = await svcWebhook('recover', '--since', 'yesterday');
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('2026-11-21T09:30:00Z') });
  const missing = await svcWebhook('recover');
  expect(missing.code).toBe(2);
});
