import { expect, test } from 'vitest';
import { commitRunning } from '../assignments/begin.ts';
import { commitDispatched } from '../assignments/dispatch.ts';
import { type NodeOutcome, storeOutcome } from '../assignments/outcomes.ts';
import { storeServiceFailure } from '../assignments/service-failures.ts';
import { createFixture, type Fixture, usage } from '../store.fixture.ts';
import { findSubmission } from '../submissions/submissions.ts';
import { cancelSubmission, settle } from './endings.ts';

const completed: NodeOutcome = {
  kind: 'completed',
  usage: usage({ actions: '7' }),
  result: { place: 1 },
};
const failed: NodeOutcome = { kind: 'failed', usage: {}, code: 'captcha', message: 'a riddle' };

interface Run {
  readonly tenantId: string;
  readonly submissionId: string;
  readonly nodeId: string;
}

async function running({ store, tenant, hold, node }: Fixture, url: string | null): Promise<Run> {
  const tenantId = await tenant(1_000, url);
  const nodeId = await node();
  const { id: submissionId } = await hold(tenantId);
  await commitDispatched(store, { submissionId, nodeId });
  await commitRunning(store, { submissionId, nodeId });
  return { tenantId, submissionId, nodeId };
}

async function lateEvents({ database }: Fixture): Promise<unknown[]> {
  return database.query(
    `SELECT e.submission_id, e.tenant_id, d.status FROM events e LEFT JOIN deliveries d ON d.event_id = e.id
     WHERE e.type = 'submission.late_outcome'`,
  );
}

async function lateColumns({ database }: Fixture, { submissionId }: Run): Promise<unknown> {
  const [row] = await database.query(
    `SELECT state, late_outcome_status AS status, late_outcome_at = finished_at + interval '5 seconds' AS at_report,
       usage_actions::text AS actions, outcome_kind AS kind FROM submissions WHERE id = $1`,
    [submissionId],
  );
  return row;
}

async function stopClock({ database }: Fixture, at: string): Promise<void> {
  await database.query(`CREATE OR REPLACE FUNCTION svc_now() RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE RETURN '${at}'::timestamptz`);
}

test.each([
  ['completed', completed, 'submitted'],
  ['failed', failed, 'failed'],
] as const)(
  'the first outcome after a cancel is kept as %s, with one event, and moves no money',
  async (_, outcome, status) => {
    const fixture = await createFixture();
    const { store, figures } = fixture;
    const run = await running(fixture, 'https://hooks.example.com/');
    await stopClock(fixture, '2030-01-01T00:00:00Z');
    await cancelSubmission(store, { ...run, by: 'tenant' });
    const before = await figures(run.tenantId);
    await stopClock(fixture, '2030-01-01T00:00:05Z');
    const stored = await storeOutcome(store, { ...run, outcome });
    expect(stored).toMatchObject({ kind: 'late', tenantId: run.tenantId });
    expect(stored.kind === 'late' ? stored.deliveryIds : []).toHaveLength(1);
    expect(await lateColumns(fixture, run)).toEqual({
      state: 'cancelled',
      status,
      at_report: true,
      actions: null,
      kind: null,
    });
    const other = await storeOutcome(store, { ...run, outcome: failed });
    expect(other).toEqual({ kind: 'repeated' });
    expect(await lateColumns(fixture, run)).toMatchObject({ status });
    expect(await lateEvents(fixture)).toEqual([
      { submission_id: run.submissionId, tenant_id: run.tenantId, status: 'pending' },
    ]);
    expect(await figures(run.tenantId)).toEqual(before);
  },
);

test('an outcome after the service gave up is late; one after its own outcome is repeated', async () => {
  const fixture = await createFixture();
  const { store, advance } = fixture;
  const lost = await running(fixture, null);
  const own = await running(fixture, null);
  await storeOutcome(store, { ...own, outcome: failed });
  await advance(60_000);
  await storeServiceFailure(store, { submissionId: lost.submissionId, code: 'node_lost' });
  const late = await storeOutcome(store, { ...lost, outcome: completed });
  expect(late).toEqual({ kind: 'late', tenantId: lost.tenantId, deliveryIds: [] });
  expect(await storeOutcome(store, { ...own, outcome: completed })).toEqual({ kind: 'repeated' });
  await settle(store, [lost.submissionId, own.submissionId]);
  expect(await storeOutcome(store, { ...own, outcome: completed })).toEqual({ kind: 'repeated' });
  expect(await findSubmission(store, lost.tenantId, lost.submissionId)).toMatchObject({
    state: 'failed',
    failure: { code: 'node_lost' },
  });
  expect(await lateEvents(fixture)).toEqual([
    { submission_id: lost.submissionId, tenant_id: lost.tenantId, status: null },
  ]);
});

test('if the tenant’s URL is disabled, the event is only in its list', async () => {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const run = await running(fixture, 'https://hooks.example.com/');
  await cancelSubmission(store, { ...run, by: 'tenant' });
  await database.query(
    `UPDATE tenants SET webhook_disabled_at = now(), webhook_disabled_reason = 'gone'`,
  );
  expect(await storeOutcome(store, { ...run, outcome: completed })).toMatchObject({
    kind: 'late',
    deliveryIds: [],
  });
  expect(await lateEvents(fixture)).toMatchObject([{ status: null }]);
});
