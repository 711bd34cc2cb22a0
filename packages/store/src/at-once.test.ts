import { randomUUID } from 'node:crypto';
import { testAuthor } from '@svc/testkit';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { commitRunning } from './assignments/begin.ts';
import { commitDispatched } from './assignments/dispatch.ts';
import { storeOutcome } from './assignments/outcomes.ts';
import { queueWebhookTest, redeliver } from './deliveries/redelivery.ts';
import { cancelSubmission } from './endings/endings.ts';
import { payRebate, reversePurchase } from './ledger/corrections.ts';
import { grantCredits } from './ledger/grants.ts';
import { untilLockWait } from './lock-wait.fixture.ts';
import { disableNode, drainNode, enableNode, rotateNodeSecret } from './nodes/changes.ts';
import { createOperator, disableOperator } from './operators/operators.ts';
import { pinSurge } from './pricing/surge-pin.ts';
import { createFixture, type Fixture, usage } from './store.fixture.ts';
import { purgeSubmission } from './submissions/purge.ts';
import { rotateTenantSecret } from './tenants/secrets.ts';
import { changeSettings } from './tenants/settings.ts';

const by = testAuthor;
const url = 'https://hooks.example.com/';

interface HeldRow {
  readonly table: string;
  readonly id: string;
  readonly key?: string;
}

/**
 * Locks the row, starts both calls, and unlocks the row when both wait for it. Therefore a test
 * fails if a call decides on values that it read before it got the lock.
 */
async function atOnce<One, Other>(
  fixture: Fixture,
  { table, id, key = 'id' }: HeldRow,
  [one, other]: readonly [() => Promise<One>, () => Promise<Other>],
): Promise<[One, Other]> {
  const holder = new Client({ connectionString: fixture.database.databaseUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(`SELECT 1 FROM ${table} WHERE ${key} = $1 FOR UPDATE`, [id]);
    const first = one();
    await untilLockWait(fixture, 1);
    const second = other();
    await untilLockWait(fixture, 2);
    await holder.query('COMMIT');
    return await Promise.all([first, second]);
  } finally {
    await holder.end();
  }
}

async function audits({ database }: Fixture, action: string) {
  return database.query<{ before: unknown; after: unknown }>(
    'SELECT before, after FROM audit_log WHERE action = $1 ORDER BY id',
    [action],
  );
}

test('two operators who drain, enable or disable a node change it once', async () => {
  const fixture = await createFixture();
  const { store, node } = fixture;
  const id = await node();
  const row = { table: 'nodes', id };
  for (const [action, change] of [
    ['node.drain', drainNode],
    ['node.enable', enableNode],
  ] as const) {
    const call = () => change(store, id, by);
    const [one, other] = await atOnce(fixture, row, [call, call]);
    expect(other).toEqual(one);
    expect(await audits(fixture, action)).toHaveLength(1);
  }
  const disable = () => disableNode(store, id, by);
  const [one, other] = await atOnce(fixture, row, [disable, disable]);
  expect(other?.node.disabledAt).toEqual(one?.node.disabledAt);
  expect(await audits(fixture, 'node.disable')).toHaveLength(1);
});

test('two operators who disable an operator change it once', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const id = randomUUID();
  await createOperator(store, { id, name: 'Ana', secret: 'osk_1' }, by);
  const disable = () => disableOperator(store, id, by);
  const [one, other] = await atOnce(fixture, { table: 'operators', id }, [disable, disable]);
  expect(other?.disabledAt).toEqual(one?.disabledAt);
  expect(await audits(fixture, 'operator.disable')).toHaveLength(1);
});

test('the second of two rotations of one secret is refused', async () => {
  const fixture = await createFixture();
  const { store, node, tenant } = fixture;
  const nodeId = await node();
  const rotateNode = (secret: string) => () =>
    rotateNodeSecret(store, { nodeId, secret, overlapMs: 60_000, force: false }, by);
  const ofNode = await atOnce(fixture, { table: 'nodes', id: nodeId }, [
    rotateNode('nsk_2'),
    rotateNode('nsk_3'),
  ]);
  expect(ofNode.map(({ kind }) => kind)).toEqual(['rotated', 'two_valid']);
  const tenantId = await tenant();
  const rotateTenant = (secret: string) => () =>
    rotateTenantSecret(
      store,
      { tenantId, kind: 'hmac', secret, overlapMs: 60_000, force: false },
      by,
    );
  const ofTenant = await atOnce(fixture, { table: 'tenants', id: tenantId }, [
    rotateTenant('hsk_2'),
    rotateTenant('hsk_3'),
  ]);
  expect(ofTenant.map(({ kind }) => kind)).toEqual(['rotated', 'two_valid']);
});

test('the audit entries of two changes say what each of them changed', async () => {
  const fixture = await createFixture();
  const { store, tenant } = fixture;
  await pinSurge(store, null, by);
  const pin = (micros: bigint) => () => pinSurge(store, micros, by);
  await atOnce(fixture, { table: 'surge_pin', id: '1' }, [pin(1_500_000n), pin(2_000_000n)]);
  expect(await audits(fixture, 'surge.pin')).toEqual([
    { before: { pinned: null }, after: { pinned: 1.5 } },
    { before: { pinned: 1.5 }, after: { pinned: 2 } },
  ]);
  const id = await tenant();
  const setBurst = (rateLimitBurst: number) => () =>
    changeSettings(store, id, { rateLimitBurst }, by);
  await atOnce(fixture, { table: 'credit_accounts', key: 'tenant_id', id }, [
    setBurst(300),
    setBurst(400),
  ]);
  expect(await audits(fixture, 'tenant.update')).toEqual([
    { before: { rateLimitBurst: 200 }, after: { rateLimitBurst: 300 } },
    { before: { rateLimitBurst: 300 }, after: { rateLimitBurst: 400 } },
  ]);
});

test('a purchase is reversed once, a rebate is paid once, and two grants add up', async () => {
  const fixture = await createFixture();
  const { store, tenant, database, figures } = fixture;
  const tenantId = await tenant(1_000);
  const account = { table: 'credit_accounts', key: 'tenant_id', id: tenantId };
  const grant = (reference: string) => ({
    purchaseId: randomUUID(),
    tenantId,
    creditsMicros: 100_000_000n,
    reference,
    usdMicros: null,
    note: null,
  });
  const [first, second] = [grant('one'), grant('two')];
  await atOnce(fixture, account, [
    () => grantCredits(store, first, by),
    () => grantCredits(store, second, by),
  ]);
  expect(await figures(tenantId)).toEqual({ balance: 1_200, held: 0 });
  const reverse = () => reversePurchase(store, first.purchaseId, by);
  const reversals = await atOnce(fixture, account, [reverse, reverse]);
  expect(reversals.map(({ kind }) => kind)).toEqual(['reversed', 'repeated']);
  expect(await figures(tenantId)).toEqual({ balance: 1_100, held: 0 });
  await database.query('UPDATE credit_accounts SET rebate_accrued_micros = 5000000');
  const pay = () => payRebate(store, tenantId, by);
  const rebates = await atOnce(fixture, account, [pay, pay]);
  expect(rebates.map(({ kind }) => kind)).toEqual(['paid', 'nothing_accrued']);
  expect(await figures(tenantId)).toEqual({ balance: 1_105, held: 0 });
});

test('the second of two equal purchases is repeated, although its credits would not fit', async () => {
  const fixture = await createFixture();
  const tenantId = await fixture.tenant(999_999_000);
  const account = { table: 'credit_accounts', key: 'tenant_id', id: tenantId };
  const grant = () => {
    const purchase = { purchaseId: randomUUID(), tenantId, reference: 'one', usdMicros: null };
    const credits = { creditsMicros: 900_000_000n, note: null };
    return grantCredits(fixture.store, { ...purchase, ...credits }, by);
  };
  const outcomes = await atOnce(fixture, account, [grant, grant]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['granted', 'repeated']);
});

test('one of two webhook tests is sent, and each of two redeliveries begins a round', async () => {
  const fixture = await createFixture();
  const { store, tenant, database } = fixture;
  const tenantId = await tenant(1_000, url);
  const send = () => queueWebhookTest(store, { tenantId, requestId: 'req-1' });
  const tests = await atOnce(fixture, { table: 'tenants', id: tenantId }, [send, send]);
  expect(tests.map(({ kind }) => kind)).toEqual(['queued', 'too_soon']);
  const [delivery] = await database.query<{ id: string }>('SELECT id FROM deliveries');
  const deliveryId = delivery?.id ?? '';
  await database.query(
    `UPDATE deliveries SET status = 'delivered', next_attempt_at = NULL, finished_at = svc_now()`,
  );
  const again = () => redeliver(store, { tenantId, deliveryId }, by);
  await atOnce(fixture, { table: 'deliveries', id: deliveryId }, [again, again]);
  expect(await database.query('SELECT status, round FROM deliveries')).toEqual([
    { status: 'pending', round: 3 },
  ]);
  expect((await audits(fixture, 'delivery.redeliver')).map(({ before }) => before)).toEqual([
    { status: 'delivered' },
    { status: 'pending' },
  ]);
});

async function running({ store, tenant, hold, node }: Fixture) {
  const tenantId = await tenant(1_000, url);
  const nodeId = await node();
  const { id: submissionId } = await hold(tenantId);
  await commitDispatched(store, { submissionId, nodeId });
  await commitRunning(store, { submissionId, nodeId });
  return { tenantId, submissionId, nodeId };
}

const completed = { kind: 'completed', usage: usage({ actions: '1' }), result: {} } as const;

test('one of two reports after a cancel is the late outcome, with one event', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const run = await running(fixture);
  const row = { table: 'submissions', id: run.submissionId };
  await cancelSubmission(store, { ...run, by: 'tenant' });
  const report = () => storeOutcome(store, { ...run, outcome: completed });
  const reports = await atOnce(fixture, row, [report, report]);
  expect(reports.map(({ kind }) => kind)).toEqual(['late', 'repeated']);
  expect(
    await database.query(`SELECT type FROM events WHERE type = 'submission.late_outcome'`),
  ).toHaveLength(1);
});

test('an outcome stays stored if its node is disabled at the same time', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const run = await running(fixture);
  const [stored, disabled] = await atOnce(fixture, { table: 'submissions', id: run.submissionId }, [
    () => storeOutcome(store, { ...run, outcome: completed }),
    () => disableNode(store, run.nodeId, by),
  ]);
  expect(stored).toEqual({ kind: 'stored', isQuarantined: false });
  expect(disabled?.lostSubmissionIds).toEqual([]);
  expect(await database.query('SELECT outcome_kind, outcome_by FROM submissions')).toEqual([
    { outcome_kind: 'completed', outcome_by: 'node' },
  ]);
});

test('if a run is lost while its outcome arrives, the first of the two stays', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const run = await running(fixture);
  const [disabled, stored] = await atOnce(fixture, { table: 'submissions', id: run.submissionId }, [
    () => disableNode(store, run.nodeId, by),
    () => storeOutcome(store, { ...run, outcome: completed }),
  ]);
  expect(disabled?.lostSubmissionIds).toEqual([run.submissionId]);
  expect(stored).toMatchObject({ kind: 'late' });
  expect(await database.query('SELECT outcome_kind, outcome_by FROM submissions')).toEqual([
    { outcome_kind: 'failed', outcome_by: 'service' },
  ]);
});

test('if two operators purge a submission, one of them does', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const run = await running(fixture);
  await cancelSubmission(store, { ...run, by: 'tenant' });
  const purge = () => purgeSubmission(store, run.submissionId, by);
  const row = { table: 'submissions', id: run.submissionId };
  const purges = await atOnce(fixture, row, [purge, purge]);
  expect(purges.map(({ kind }) => kind)).toEqual(['purged', 'purged_before']);
  expect(await audits(fixture, 'submission.purge')).toHaveLength(1);
});
