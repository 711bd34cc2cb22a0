import { randomUUID } from 'node:crypto';
import { dispatchDeadlineMs, webhookTestIntervalMs } from '@svc/domain';
import { expect, test } from 'vitest';
import { commitRunning } from './assignments/begin.ts';
import { commitDispatched, loadForDispatch } from './assignments/dispatch.ts';
import { type NodeOutcome, storeOutcome } from './assignments/outcomes.ts';
import { recordUsage } from './assignments/usage-reports.ts';
import { queueWebhookTest } from './deliveries/redelivery.ts';
import { cancelSubmission, settle } from './endings/endings.ts';
import { auditLedger } from './ledger/ledger-audit.ts';
import { takeWatcherLease } from './purchase-intents/lease.ts';
import { createFixture, type Fixture, usage } from './store.fixture.ts';
import {
  findByIdempotencyKey,
  findSubmission,
  readDispatchOutcome,
} from './submissions/submissions.ts';

/** The shift that puts the database's clock behind the stored times, as after a failover. */
const behindMs = -600_000;

async function begun({ store, hold, node }: Fixture, tenantId: string) {
  const { id: submissionId } = await hold(tenantId);
  const nodeId = await node();
  await commitDispatched(store, { submissionId, nodeId });
  await commitRunning(store, { submissionId, nodeId });
  return { submissionId, nodeId };
}

test('a cancel while the clock is behind the begin charges for no time', async () => {
  const fixture = await createFixture();
  const { store, tenant, figures, advance } = fixture;
  const tenantId = await tenant(1_000);
  const { submissionId } = await begun(fixture, tenantId);
  await advance(behindMs);
  const outcome = await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
  expect(outcome).toMatchObject({ kind: 'cancelled', chargedMicros: 0n });
  expect(await figures(tenantId)).toEqual({ balance: 1_000, held: 0 });
  expect((await auditLedger(store)).faults).toEqual([]);
});

test.each(['a report', 'an outcome'] as const)(
  '%s while the clock is behind the begin counts no node seconds, and settles',
  async (kind) => {
    const fixture = await createFixture();
    const { store, tenant, advance, database } = fixture;
    const tenantId = await tenant(1_000);
    const { submissionId, nodeId } = await begun(fixture, tenantId);
    await advance(behindMs);
    const used = usage({ nodeSeconds: '30', actions: '8' });
    if (kind === 'a report') await recordUsage(store, { submissionId, nodeId, usage: used });
    const outcome: NodeOutcome = { kind: 'completed', usage: used, result: {} };
    await storeOutcome(store, { submissionId, nodeId, outcome });
    const [row] = await database.query(
      'SELECT usage_node_seconds::float8 AS seconds FROM submissions',
    );
    expect(row).toEqual({ seconds: 0 });
    await settle(store, [submissionId]);
    // The charge is 20 + 0.5 × 8 credits.
    expect(await findSubmission(store, tenantId, submissionId)).toMatchObject({
      state: 'submitted',
      chargedMicros: 24_000_000n,
    });
  },
);

test('a dispatch waits no longer than its deadline, however far the clock is behind', async () => {
  const { store, tenant, hold, advance } = await createFixture();
  const tenantId = await tenant(1_000);
  const key = randomUUID();
  const { id } = await hold(tenantId, { key });
  await advance(behindMs);
  const [loaded] = await loadForDispatch(store, [id]);
  expect(loaded?.remainingMs).toBe(dispatchDeadlineMs);
  expect((await readDispatchOutcome(store, id))?.remainingMs).toBe(dispatchDeadlineMs);
  const keyed = await findByIdempotencyKey(store, tenantId, key);
  expect(keyed?.remainingMs).toBe(dispatchDeadlineMs);
});

test('a second webhook test is delayed by at most a minute', async () => {
  const { store, tenant, advance } = await createFixture();
  const tenantId = await tenant(0, 'https://hooks.example.com/svc');
  const ask = { tenantId, requestId: 'req-1' };
  expect((await queueWebhookTest(store, ask)).kind).toBe('queued');
  await advance(behindMs);
  expect(await queueWebhookTest(store, ask)).toEqual({
    kind: 'too_soon',
    retryInMs: webhookTestIntervalMs,
  });
});

test('the lease of a Solana watcher that is gone lasts as long as before', async () => {
  const { store, advance } = await createFixture();
  const leaseMs = 10_000;
  const first = await takeWatcherLease(store, { holder: 'gone', leaseMs });
  expect(await takeWatcherLease(store, { holder: 'next', leaseMs })).toBeNull();
  await advance(behindMs);
  await advance(leaseMs);
  const next = await takeWatcherLease(store, { holder: 'next', leaseMs });
  expect(next?.epoch).toBe((first?.epoch ?? 0n) + 1n);
});
