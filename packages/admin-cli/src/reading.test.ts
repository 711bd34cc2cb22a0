import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';
import { toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import {
  assertReady,
  claimDue,
  commitDispatched,
  commitRunning,
  createNode,
  holdSubmission,
  openStore,
  createTenant,
  recordAttempt,
  settle,
  type Store,
  storeOutcome,
} from '@svc/store';
import { bareEnvironment, createTestDatabase, testAuthor, testMasterKey } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Results of nodes and responses of endpoints may contain personal data, so reads are audited. */

const entry = path.join(import.meta.dirname, 'main.ts');
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let store: Store;
let tenantId: string;
let submissionId: string;
let deliveryId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const sealer = createSealer(openKeyring(testMasterKey()));
  store = openStore({ databaseUrl: database.databaseUrl, sealer, newId });
  await assertReady(store, 'sandbox');
  tenantId = newId();
  await createTenant(store, tenantOf(tenantId), 1_000_000_000n, testAuthor);
  const nodeId = newId();
  await createNode(store, { id: nodeId, name: 'attic', secret: 'nsk_1' }, testAuthor);
  const id = newId();
  await holdSubmission(store, submissionOf(id, tenantId));
  await commitDispatched(store, { submissionId: id, nodeId });
  await commitRunning(store, { submissionId: id, nodeId });
  const outcome = { kind: 'completed', usage: {}, result: { confirmationId: 'A-1' } } as const;
  await storeOutcome(store, { submissionId: id, nodeId, outcome });
  await settle(store, [id]);
  submissionId = toWireId('sub', id);
  deliveryId = await answer({ kind: 'delivered' });
});
afterAll(async () => {
  await store.close();
  await database.close();
});

/** Has the endpoint answer an attempt that is due, of `wanted` if given. Returns the delivery's id. */
async function answer(
  verdict: Parameters<typeof recordAttempt>[1]['verdict'],
  wanted?: string,
): Promise<string> {
  const [claim] = await claimDue(store, [{ tenantId, attemptsMax: wanted === undefined ? 1 : 10 }]);
  const attempt = claim?.attempts.find(
    (one) => wanted === undefined || toWireId('dlv', one.deliveryId) === wanted,
  );
  if (attempt === undefined) throw new Error('nothing to claim');
  const answered = { statusCode: 200, durationMs: 1, error: null, responseText: 'Thanks, Ana' };
  await recordAttempt(store, { ...attempt, ...answered, verdict });
  return toWireId('dlv', attempt.deliveryId);
}

function tenantOf(id: string) {
  return {
    id,
    name: 'Example Works',
    allowedJobTypes: ['ats.application'],
    webhookUrl: 'https://hooks.example.com/',
    hmacSecret: 'hsk_test_1',
    webhookSecret: 'whsec_MQ==',
  };
}

function submissionOf(id: string, ofTenantId: string) {
  return {
    id,
    tenantId: ofTenantId,
    idempotencyKey: randomUUID(),
    requestHash: new Uint8Array(32),
    requestId: 'req-1',
    jobType: 'ats.application',
    tier: 'standard',
    payloadText: '{}',
    quote: {
      estimatedMicros: 0n,
      maxMicros: 200_000_000n,
      surgeMicros: 1_000_000n,
      rateCardVersion: 1,
    },
  } as const;
}

/** Runs a command and returns the audit entries that it added. */
async function noted(...words: string[]): Promise<unknown[]> {
  const last = 'SELECT COALESCE(max(id), 0) AS id FROM audit_log';
  const [before] = await database.query<{ id: string }>(last);
  const env = {
    ...bareEnvironment(),
    DATABASE_URL: database.databaseUrl,
    SVC_MASTER_KEY: testMasterKey(),
  };
  await promisify(execFile)(process.execPath, [entry, ...words], { env });
  return database.query(
    'SELECT actor_kind, action, subject_id, after FROM audit_log WHERE id > $1',
    [before?.id],
  );
}

const entryOf = (action: string, subject: string, after: object | null = null) => [
  { actor_kind: 'local', action, subject_id: subject, after },
];

test('reading the result of a node is audited', async () => {
  const read = entryOf('submission.read', submissionId);
  expect(await noted('submission', 'show', submissionId)).toEqual(read);
  expect(await noted('trace', submissionId)).toEqual(read);
  const list = entryOf('list.read', 'submissions', { count: 1 });
  expect(await noted('submission', 'list', '--json')).toEqual(list);
  expect(await noted('submission', 'list')).toEqual([]);
});

test('reading the response of an endpoint is audited', async () => {
  const read = entryOf('delivery.read', deliveryId);
  expect(await noted('webhook', 'show', deliveryId)).toEqual(read);
  const list = entryOf('list.read', 'deliveries', { count: 1 });
  expect(await noted('webhook', 'list', '--json')).toEqual(list);
  expect(await noted('webhook', 'list')).toEqual([]);
});

test('a redelivery that shows responses of an endpoint is audited as reading them', async () => {
  const redelivered = [{ action: 'delivery.redeliver', subject_id: deliveryId }];
  expect(await noted('webhook', 'redeliver', deliveryId)).toMatchObject(redelivered);
  await answer({ kind: 'retry', delayMs: 3_600_000 }, deliveryId);
  expect(await noted('webhook', 'redeliver', deliveryId)).toMatchObject([
    ...redelivered,
    { action: 'delivery.read', subject_id: deliveryId },
  ]);
});

test('reading a submission whose personal data was purged is not audited', async () => {
  await noted('submission', 'purge', submissionId, '--yes');
  expect(await noted('submission', 'show', submissionId)).toEqual([]);
});
