import { formatDecimal } from '@svc/domain';
import { assert, expect, test } from 'vitest';
import { commitRunning } from '../assignments/begin.ts';
import { commitDispatched } from '../assignments/dispatch.ts';
import { type NodeOutcome, storeOutcome } from '../assignments/outcomes.ts';
import { storeServiceFailure } from '../assignments/service-failures.ts';
import { recordUsage } from '../assignments/usage-reports.ts';
import { auditLedger } from '../ledger/ledger-audit.ts';
import { createFixture, type Fixture, usage } from '../store.fixture.ts';
import { findSubmission } from '../submissions/submissions.ts';
import { cancelSubmission, settle } from './endings.ts';

const completed: NodeOutcome = {
  kind: 'completed',
  usage: usage({ nodeSeconds: '30', cpuSeconds: '10', actions: '8' }),
  result: { confirmationId: 'A-1' },
};
const refused: NodeOutcome = {
  kind: 'failed',
  usage: {},
  code: 'ats_rejected',
  message: 'no such posting',
};

async function running(fixture: Fixture, tenantId: string, runMs = 60_000) {
  const { store, hold, node, advance } = fixture;
  const { id: submissionId } = await hold(tenantId);
  const nodeId = await node();
  await commitDispatched(store, { submissionId, nodeId });
  await commitRunning(store, { submissionId, nodeId });
  await advance(runMs);
  return { submissionId, nodeId };
}

test('settling charges the metered usage, releases the rest and ends the submission once', async () => {
  const fixture = await createFixture();
  const { store, tenant, figures, database } = fixture;
  const tenantId = await tenant(1_000);
  const { submissionId, nodeId } = await running(fixture, tenantId);
  expect(await storeOutcome(store, { submissionId, nodeId, outcome: completed })).toEqual({
    kind: 'stored',
    isQuarantined: false,
  });
  const settlements = await Promise.all([
    settle(store, [submissionId]),
    settle(store, [submissionId]),
    settle(store, [submissionId, submissionId]),
  ]);
  const kinds = settlements.flat().map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'moved')).toHaveLength(1);
  // The charge is 41 credits: 20 + 0.5 × 30 + 0.2 × 10 + 0.5 × 8.
  expect(await figures(tenantId)).toEqual({ balance: 959, held: 0 });
  expect(await findSubmission(store, tenantId, submissionId)).toMatchObject({
    state: 'submitted',
    chargedMicros: 41_000_000n,
    refundedMicros: 159_000_000n,
    result: { confirmationId: 'A-1' },
    failure: null,
  });
  const entries = await database.query<{ type: string; amount: string }>(
    'SELECT type, amount_micros AS amount FROM ledger_entries WHERE submission_id = $1 ORDER BY sequence',
    [submissionId],
  );
  expect(entries).toEqual([
    { type: 'hold', amount: '200000000' },
    { type: 'charge', amount: '41000000' },
    { type: 'release', amount: '159000000' },
  ]);
});

test('node-seconds never exceed the time since begin, and no unit decreases', async () => {
  const fixture = await createFixture();
  const { store, tenant } = fixture;
  const tenantId = await tenant(1_000);
  const { submissionId, nodeId } = await running(fixture, tenantId, 10_000);
  const report = { submissionId, nodeId };
  await recordUsage(store, { ...report, usage: usage({ nodeSeconds: '5.0009', actions: '7' }) });
  const outcome: NodeOutcome = {
    kind: 'completed',
    usage: usage({ nodeSeconds: '5000', actions: '3' }),
    result: {},
  };
  await storeOutcome(store, { ...report, outcome });
  await settle(store, [submissionId]);
  const record = await findSubmission(store, tenantId, submissionId);
  expect(record?.usage.actions).toEqual({ digits: 7n, scale: 0 });
  const measured = record?.usage.nodeSeconds;
  assert(measured);
  const nodeSeconds = Number(formatDecimal(measured));
  expect(nodeSeconds).toBeGreaterThanOrEqual(10);
  expect(nodeSeconds).toBeLessThan(15);
});

test('a failure costs nothing and has its reason', async () => {
  const fixture = await createFixture();
  const { store, tenant, figures } = fixture;
  const tenantId = await tenant(1_000);
  const { submissionId, nodeId } = await running(fixture, tenantId);
  await storeOutcome(store, { submissionId, nodeId, outcome: refused });
  await settle(store, [submissionId]);
  expect(await figures(tenantId)).toEqual({ balance: 1_000, held: 0 });
  expect(await findSubmission(store, tenantId, submissionId)).toMatchObject({
    state: 'failed',
    chargedMicros: 0n,
    refundedMicros: 200_000_000n,
    failure: { code: 'ats_rejected', message: 'no such posting', begun: true },
  });
});

test('completed is refused before begin; failed is accepted', async () => {
  const { store, tenant, hold, node } = await createFixture();
  const { id: submissionId } = await hold(await tenant());
  const nodeId = await node();
  await commitDispatched(store, { submissionId, nodeId });
  const report = { submissionId, nodeId };
  const early = await storeOutcome(store, { ...report, outcome: completed });
  expect(early).toEqual({ kind: 'not_begun' });
  const stored = { kind: 'stored', isQuarantined: false };
  expect(await storeOutcome(store, { ...report, outcome: refused })).toEqual(stored);
  expect(await storeOutcome(store, { ...report, outcome: refused })).toEqual({ kind: 'repeated' });
});

test('an outcome from a node that does not have the submission is refused', async () => {
  const fixture = await createFixture();
  const { store, tenant, node, state } = fixture;
  const { submissionId } = await running(fixture, await tenant());
  const stranger = { submissionId, nodeId: await node(), outcome: completed };
  expect(await storeOutcome(store, stranger)).toEqual({ kind: 'not_yours' });
  expect(await state(submissionId)).toBe('running');
});

test('a cancel before begin charges nothing; during a run it charges node-seconds by our clock', async () => {
  const fixture = await createFixture();
  const { store, tenant, hold, figures } = fixture;
  const tenantId = await tenant(1_000);
  const { id } = await hold(tenantId);
  const early = await cancelSubmission(store, { submissionId: id, tenantId, by: 'tenant' });
  expect(early).toMatchObject({
    kind: 'cancelled',
    chargedMicros: 0n,
    refundedMicros: 200_000_000n,
  });
  const { submissionId } = await running(fixture, tenantId, 12_500);
  const mid = await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
  if (mid.kind !== 'cancelled') throw new Error(mid.kind);
  // The run lasted 12.5 s plus the time that this test needed. Each second costs 0.5 credits.
  expect(Number(mid.chargedMicros)).toBeGreaterThanOrEqual(6_250_000);
  expect(Number(mid.chargedMicros)).toBeLessThan(8_750_000);
  expect(mid.chargedMicros + mid.refundedMicros).toBe(200_000_000n);
  const { balance, held } = await figures(tenantId);
  expect({ balance: Math.round(balance * 1e6), held }).toEqual({
    balance: 1_000_000_000 - Number(mid.chargedMicros),
    held: 0,
  });
});

test('a second cancel is terminal and returns the first refund', async () => {
  const { store, tenant, hold } = await createFixture();
  const tenantId = await tenant();
  const request = { submissionId: (await hold(tenantId)).id, tenantId, by: 'tenant' } as const;
  const outcomes = await Promise.all([
    cancelSubmission(store, request),
    cancelSubmission(store, request),
  ]);
  expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['cancelled', 'terminal']);
  expect(outcomes.find(({ kind }) => kind === 'terminal')).toMatchObject({
    state: 'cancelled',
    chargedMicros: 0n,
    refundedMicros: 200_000_000n,
    deliveryIds: [],
  });
});

test('a cancel that finds a stored outcome settles it instead', async () => {
  const fixture = await createFixture();
  const { store, tenant, figures } = fixture;
  const tenantId = await tenant(1_000, 'https://hooks.example.com/');
  const { submissionId, nodeId } = await running(fixture, tenantId);
  await storeOutcome(store, { submissionId, nodeId, outcome: completed });
  const outcome = await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
  expect(outcome).toMatchObject({
    kind: 'terminal',
    state: 'submitted',
    chargedMicros: 41_000_000n,
  });
  expect(outcome.kind === 'terminal' && outcome.deliveryIds).toHaveLength(2);
  expect(await figures(tenantId)).toEqual({ balance: 959, held: 0 });
});

test("another tenant's submission cannot be cancelled", async () => {
  const { store, tenant, hold, state } = await createFixture();
  const [owner, other] = [await tenant(), await tenant()];
  const { id: submissionId } = await hold(owner);
  const outcome = await cancelSubmission(store, { submissionId, tenantId: other, by: 'tenant' });
  expect(outcome).toEqual({ kind: 'not_found' });
  expect(await state(submissionId)).toBe('pending');
});

test('the first outcome after the service gave up is kept as a late outcome and moves nothing', async () => {
  const fixture = await createFixture();
  const { store, tenant, figures } = fixture;
  const tenantId = await tenant(1_000, 'https://hooks.example.com/');
  const { submissionId, nodeId } = await running(fixture, tenantId, 60_000);
  await storeServiceFailure(store, { submissionId, code: 'node_lost' });
  await settle(store, [submissionId]);
  const report = { submissionId, nodeId, outcome: completed };
  const late = await storeOutcome(store, report);
  expect(late.kind === 'late' && late.deliveryIds).toHaveLength(1);
  expect(await storeOutcome(store, report)).toEqual({ kind: 'repeated' });
  expect(await figures(tenantId)).toEqual({ balance: 1_000, held: 0 });
  expect(await findSubmission(store, tenantId, submissionId)).toMatchObject({
    state: 'failed',
    chargedMicros: 0n,
    failure: { code: 'node_lost', begun: true },
    lateOutcome: { status: 'submitted' },
  });
});

test('a batch over several tenants settles each exactly', async () => {
  const fixture = await createFixture();
  const { store, tenant, figures } = fixture;
  const tenants = [await tenant(1_000), await tenant(1_000)];
  const ids: string[] = [];
  for (const tenantId of [...tenants, ...tenants]) {
    const { submissionId, nodeId } = await running(fixture, tenantId, 31_000);
    await storeOutcome(store, { submissionId, nodeId, outcome: completed });
    ids.push(submissionId);
  }
  await Promise.all([settle(store, ids), settle(store, ids.toReversed())]);
  for (const tenantId of tenants) {
    expect(await figures(tenantId)).toEqual({ balance: 918, held: 0 });
  }
});

test('a rebate grows with each charge', async () => {
  const fixture = await createFixture();
  const { store, tenant, database } = fixture;
  const tenantId = await tenant(1_000);
  await database.query('UPDATE tenants SET rebate_millionths = 25000 WHERE id = $1', [tenantId]);
  const { submissionId, nodeId } = await running(fixture, tenantId);
  await storeOutcome(store, { submissionId, nodeId, outcome: completed });
  await settle(store, [submissionId]);
  const [account] = await database.query(
    'SELECT balance_micros, rebate_accrued_micros FROM credit_accounts WHERE tenant_id = $1',
    [tenantId],
  );
  expect(account).toEqual({ balance_micros: '959000000', rebate_accrued_micros: '1025000' });
});

test('if a cancel and an outcome come at the same moment, one of them ends it and neither fails', async () => {
  const fixture = await createFixture();
  const { store, tenant } = fixture;
  const tenantId = await tenant(100_000);
  const runs: Awaited<ReturnType<typeof running>>[] = [];
  while (runs.length < 25) runs.push(await running(fixture, tenantId, 0));
  const races = await Promise.all(
    runs.map(async ({ submissionId, nodeId }) => {
      const [cancel, outcome] = await Promise.all([
        cancelSubmission(store, { submissionId, tenantId, by: 'tenant' }),
        storeOutcome(store, { submissionId, nodeId, outcome: completed }),
      ]);
      return `${cancel.kind} ${outcome.kind}`;
    }),
  );
  expect(races.filter((race) => !['cancelled late', 'terminal stored'].includes(race))).toEqual([]);
  expect((await auditLedger(store)).faults).toEqual([]);
});
