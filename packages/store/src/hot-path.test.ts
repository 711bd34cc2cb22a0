import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import * as intents from './index.ts';
import { createFixture, type Fixture, newLinkEpoch, usage } from './store.fixture.ts';

/**
 * The typed client is Prisma. It is not used on the path of a submission or by the timers of a
 * service. At the start of a service, only `loadTypedClient` uses it (decision 24).
 */

function onTheDriver({ store }: Fixture): intents.Store {
  const db = new Proxy(store.db, {
    get: (_, name) => {
      throw new Error(`the typed client is used: ${String(name)}`);
    },
  });
  return { ...store, db };
}

const page = { after: null, limit: 100 };

test('a submission passes through the service without the typed client', async () => {
  const fixture = await createFixture();
  const store = onTheDriver(fixture);
  const tenantId = await fixture.tenant(1_000, 'https://hooks.example.com/svc');
  const nodeId = await fixture.node();
  expect(await intents.findTenantCredentials(store, tenantId)).not.toBeNull();
  await intents.typicalUsage(store, 'ats.application');
  await intents.readBalance(store, tenantId);
  const { id: submissionId } = await fixture.hold(tenantId, { key: 'one' });
  const at = { submissionId, nodeId };
  expect(await intents.findByIdempotencyKey(store, tenantId, 'one')).not.toBeNull();
  expect(await intents.loadForDispatch(store, [submissionId])).toHaveLength(1);
  await intents.commitDispatched(store, at);
  await intents.readDispatchOutcome(store, submissionId);
  await intents.commitRunning(store, at);
  await intents.recordUsage(store, { ...at, usage: usage({ actions: '1' }) });
  const outcome = { kind: 'completed', usage: {}, result: {} } as const;
  await intents.storeOutcome(store, { ...at, outcome });
  await intents.settle(store, [submissionId]);
  expect(await intents.findSubmission(store, tenantId, submissionId)).toMatchObject({
    state: 'submitted',
  });
  const [claim] = await intents.claimDue(store, [{ tenantId, attemptsMax: 8 }]);
  expect(claim?.attempts).not.toHaveLength(0);
  for (const attempt of claim?.attempts ?? []) {
    const observed = { statusCode: 410, durationMs: 1, error: null, responseText: 'gone' };
    await intents.recordAttempt(store, { ...attempt, ...observed, verdict: { kind: 'gone' } });
  }
});

test('a service starts, opens node links and runs its timers without the typed client', async () => {
  const fixture = await createFixture();
  const store = onTheDriver(fixture);
  const nodeId = await fixture.node();
  expect((await intents.assertReady(store, 'sandbox')).kind).toBe('ready');
  await intents.ping(store);
  expect(await intents.findNodeCredentials(store, nodeId)).not.toBeNull();
  const linkEpoch = await newLinkEpoch(store, nodeId);
  expect(await intents.recordHello(store, { nodeId, agentVersion: '1', linkEpoch })).not.toBeNull();
  expect(await intents.findNodeSettings(store, nodeId)).not.toBeNull();
  await intents.findChangedNodes(store, null);
  await intents.touchNodes(store, [nodeId]);
  await intents.readSurgePin(store);
  await intents.findOverdue(store, page);
  await intents.findAgedRounds(store, page);
  await intents.findExpired(store, { ...page, retentionDays: 1 });
  await intents.findDueEndpoints(store, { afterTenantId: null, limit: 100 });
  for (const reconciler of ['settlement', 'webhook', 'purge'] as const)
    await intents.pruneReconcileFailures(store, reconciler);
  await intents.makePartitions(store);
  await intents.readLedgerAudit(store);
  expect((await intents.sealAuditHead(store)).faults).toEqual([]);
  await intents.auditReading(store, { list: 'submissions', count: 0 }, testAuthor);
});
