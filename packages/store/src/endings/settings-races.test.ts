import { testAuthor } from '@svc/testkit';
import { beforeEach, expect, test } from 'vitest';
import { commitRunning } from '../assignments/begin.ts';
import { commitDispatched } from '../assignments/dispatch.ts';
import { storeOutcome } from '../assignments/outcomes.ts';
import { recordAttempt } from '../deliveries/attempts.ts';
import { queueWebhookTest } from '../deliveries/redelivery.ts';
import { beginOther, untilLockWait, type OpenTransaction } from '../lock-wait.fixture.ts';
import { claimFor, createFixture, type Fixture, usage } from '../store.fixture.ts';
import { changeSettings } from '../tenants/settings.ts';
import { cancelSubmission, settle } from './endings.ts';

const url = 'https://hooks.example.com/';
let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});

/**
 * Begins a transaction that changes the tenant's settings, and leaves it open. It locks the account
 * first, as `changeSettings` does.
 */
async function beginSettings(tenantId: string, change: string): Promise<OpenTransaction> {
  const other = await beginOther(fixture);
  await other.query('SELECT FROM credit_accounts WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
  await other.query(`UPDATE tenants SET ${change} WHERE id = $1`, [tenantId]);
  return other;
}

async function running(tenantId: string): Promise<{ id: string; nodeId: string }> {
  const { id } = await fixture.hold(tenantId);
  const nodeId = await fixture.node();
  await commitDispatched(fixture.store, { submissionId: id, nodeId });
  await commitRunning(fixture.store, { submissionId: id, nodeId });
  return { id, nodeId };
}

/**
 * Creates a submission with a stored outcome and returns the id. The settlement of the submission
 * charges 25 credits.
 */
async function settling(tenantId: string): Promise<string> {
  const { id, nodeId } = await running(tenantId);
  await report(id, nodeId);
  return id;
}

const report = (submissionId: string, nodeId: string) =>
  storeOutcome(fixture.store, {
    submissionId,
    nodeId,
    outcome: { kind: 'completed', usage: usage({ actions: '10' }), result: {} },
  });

const endings: [string, (tenantId: string, submissionId: string) => Promise<unknown>][] = [
  ['a settlement', (_, id) => settle(fixture.store, [id])],
  [
    'a cancel',
    (tenantId, submissionId) =>
      cancelSubmission(fixture.store, { submissionId, tenantId, by: 'tenant' }),
  ],
];

test.each(endings)(
  '%s that waits for a URL to be set sends its event there',
  async (_what, end) => {
    const tenantId = await fixture.tenant(2_000);
    const submissionId = await settling(tenantId);
    const other = await beginSettings(tenantId, `webhook_url = '${url}'`);
    const ended = end(tenantId, submissionId);
    await untilLockWait(fixture);
    await other.commit();
    expect(await ended).toBeDefined();
    expect((await claimFor(fixture.store, tenantId)).map((attempt) => attempt.url)).toEqual([url]);
  },
);

test('a settlement that waits while the URL is cleared sends nothing', async () => {
  const tenantId = await fixture.tenant(1_000, url);
  const submissionId = await settling(tenantId);
  const other = await beginSettings(tenantId, 'webhook_url = NULL');
  const ended = settle(fixture.store, [submissionId]);
  await untilLockWait(fixture);
  await other.commit();
  expect((await ended)[0]?.deliveryIds).toEqual([]);
});

test('a settlement that waits for a new rebate rate uses that rate', async () => {
  const tenantId = await fixture.tenant();
  const submissionId = await settling(tenantId);
  const other = await beginSettings(tenantId, 'rebate_millionths = 100000');
  const ended = settle(fixture.store, [submissionId]);
  await untilLockWait(fixture);
  await other.commit();
  await ended;
  const [account] = await fixture.database.query<{ rebate: string }>(
    'SELECT rebate_accrued_micros AS rebate FROM credit_accounts WHERE tenant_id = $1',
    [tenantId],
  );
  expect(account?.rebate).toBe('2500000');
});

test('a settlement that waits for a new threshold uses that threshold', async () => {
  const tenantId = await fixture.tenant(2_000, url);
  const submissionId = await settling(tenantId);
  const other = await beginOther(fixture);
  await other.query('UPDATE credit_accounts SET low_balance_threshold_micros = 1990000000');
  const ended = settle(fixture.store, [submissionId]);
  await untilLockWait(fixture);
  await other.commit();
  await ended;
  const types = (await claimFor(fixture.store, tenantId)).map(({ type }) => type);
  expect(types.toSorted()).toEqual(['credits.low_balance', 'submission.completed']);
});

test('a late outcome waits for a change of the URL and sends its event to the new one', async () => {
  const tenantId = await fixture.tenant();
  const { id, nodeId } = await running(tenantId);
  await cancelSubmission(fixture.store, { submissionId: id, tenantId, by: 'tenant' });
  const other = await beginSettings(tenantId, `webhook_url = '${url}'`);
  const reported = report(id, nodeId);
  await untilLockWait(fixture);
  await other.commit();
  expect(await reported).toMatchObject({ kind: 'late', deliveryIds: [expect.any(String)] });
});

test('an event that was written while a 410 disabled the URL is not sent to the next URL', async () => {
  const tenantId = await fixture.tenant(1_000, url);
  await queueWebhookTest(fixture.store, { tenantId, requestId: 'req-1' });
  const [attempt] = await claimFor(fixture.store, tenantId);
  if (attempt === undefined) throw new Error('nothing to claim');
  // Another transaction writes a delivery before `recordAttempt` records the 410, and commits after
  // that call.
  const other = await beginOther(fixture);
  await other.query(
    `INSERT INTO deliveries (id, tenant_id, event_id, type, status, next_attempt_at, created_at, round_started_at)
     VALUES ($3, $1, $2, 'webhook.test', 'pending', svc_now(), svc_now(), svc_now())`,
    [tenantId, attempt.eventId, fixture.store.newId()],
  );
  await recordAttempt(fixture.store, {
    ...attempt,
    statusCode: 410,
    durationMs: 1,
    error: null,
    responseText: null,
    verdict: { kind: 'gone' },
  });
  await other.commit();
  await changeSettings(fixture.store, tenantId, { webhookUrl: `${url}next` }, testAuthor);
  expect(await claimFor(fixture.store, tenantId)).toEqual([]);
});
