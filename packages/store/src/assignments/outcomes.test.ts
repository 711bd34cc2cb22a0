import { expect, test } from 'vitest';
import { settle } from '../endings/endings.ts';
import { createFixture, type Fixture, usage } from '../store.fixture.ts';
import { findSubmission } from '../submissions/submissions.ts';
import { commitRunning } from './begin.ts';
import { commitDispatched } from './dispatch.ts';
import { type NodeOutcome, storeOutcome } from './outcomes.ts';
import { recordUsage } from './usage-reports.ts';

const failed: NodeOutcome = { kind: 'failed', usage: {}, code: 'captcha', message: 'a riddle' };

const completed = (result: unknown, actions: string): NodeOutcome => {
  return { kind: 'completed', usage: usage({ actions }), result };
};

async function begun(fixture: Fixture, tenantId: string, nodeId: string) {
  const { store, hold, advance } = fixture;
  const { id: submissionId } = await hold(tenantId);
  await commitDispatched(store, { submissionId, nodeId });
  await commitRunning(store, { submissionId, nodeId });
  await advance(60_000);
  return { submissionId, nodeId };
}

test('outcomes that are stored together are each stored for their submission', async () => {
  const fixture = await createFixture();
  const { store, tenant, hold, node } = fixture;
  const tenantId = await tenant(10_000);
  const [mine, other] = [await node(), await node()];
  const runs = [];
  for (let n = 0; n < 5; n += 1) runs.push(await begun(fixture, tenantId, mine));
  const notBegun = await hold(tenantId);
  await commitDispatched(store, { submissionId: notBegun.id, nodeId: mine });
  const failsEarly = await hold(tenantId);
  await commitDispatched(store, { submissionId: failsEarly.id, nodeId: mine });
  const [first] = runs;
  if (first === undefined) throw new Error('none runs');
  const results = await Promise.all([
    ...runs.map((run, n) =>
      storeOutcome(store, { ...run, outcome: completed({ place: n }, `${n}.5`) }),
    ),
    storeOutcome(store, { submissionId: notBegun.id, nodeId: mine, outcome: completed({}, '1') }),
    storeOutcome(store, { submissionId: failsEarly.id, nodeId: mine, outcome: failed }),
    storeOutcome(store, { ...first, nodeId: other, outcome: failed }),
  ]);
  expect(results.map(({ kind }) => kind)).toEqual([
    ...runs.map(() => 'stored'),
    'not_begun',
    'stored',
    'not_yours',
  ]);
  await settle(
    store,
    runs.map(({ submissionId }) => submissionId),
  );
  for (const [n, { submissionId }] of runs.entries()) {
    expect(await findSubmission(store, tenantId, submissionId)).toMatchObject({
      state: 'submitted',
      result: { place: n },
      usage: usage({ actions: `${n}.5` }),
    });
  }
  await settle(store, [failsEarly.id]);
  expect(await findSubmission(store, tenantId, failsEarly.id)).toMatchObject({
    state: 'failed',
    failure: { code: 'captcha', message: 'a riddle', begun: false },
  });
});

test('what nodes state about their failures is stored for each submission and shown with its failure', async () => {
  const fixture = await createFixture();
  const { store, tenant, node } = fixture;
  const tenantId = await tenant(1_000);
  const nodeId = await node();
  const stated = [
    { code: 'node_error', stated: { submitted: false } },
    { code: 'node_error' },
    { code: 'site_unreachable', stated: { submitted: false, retriable: false } },
    { code: 'captcha', stated: { submitted: false } },
  ] as const;
  const runs = [];
  for (const _ of stated) runs.push(await begun(fixture, tenantId, nodeId));
  await Promise.all(
    runs.map((run, n) =>
      storeOutcome(store, {
        ...run,
        outcome: { kind: 'failed', usage: {}, code: 'node_error', message: '', ...stated[n] },
      }),
    ),
  );
  const ids = runs.map(({ submissionId }) => submissionId);
  await settle(store, ids);
  const records = await Promise.all(ids.map((id) => findSubmission(store, tenantId, id)));
  expect(records.map((record) => record?.failure)).toEqual([
    { code: 'node_error', message: '', begun: true, statedRetriable: true },
    { code: 'node_error', message: '', begun: true, statedRetriable: null },
    { code: 'site_unreachable', message: '', begun: true, statedRetriable: false },
    { code: 'captcha', message: '', begun: true, statedRetriable: null },
  ]);
});

test('if two outcomes of one submission arrive at the same moment, the first is stored', async () => {
  const fixture = await createFixture();
  const { store, tenant, node } = fixture;
  const tenantId = await tenant(1_000);
  const [mine, other] = [await node(), await node()];
  const run = await begun(fixture, tenantId, mine);
  const results = await Promise.all([
    storeOutcome(store, { ...run, nodeId: other, outcome: failed }),
    storeOutcome(store, { ...run, outcome: completed({ report: 'first' }, '1') }),
    storeOutcome(store, { ...run, outcome: failed }),
  ]);
  expect(results.map(({ kind }) => kind)).toEqual(['not_yours', 'stored', 'repeated']);
  await settle(store, [run.submissionId]);
  expect(await findSubmission(store, tenantId, run.submissionId)).toMatchObject({
    state: 'submitted',
    result: { report: 'first' },
  });
});

test('reports that are recorded together each raise their submission, one after another', async () => {
  const fixture = await createFixture();
  const { store, tenant, node, database, hold } = fixture;
  const tenantId = await tenant(1_000);
  const nodeId = await node();
  const [one, two] = [
    await begun(fixture, tenantId, nodeId),
    await begun(fixture, tenantId, nodeId),
  ];
  const { id: notBegun } = await hold(tenantId);
  await commitDispatched(store, { submissionId: notBegun, nodeId });
  const results = await Promise.all([
    recordUsage(store, { ...one, usage: usage({ actions: '7', cpuSeconds: '1.23456' }) }),
    recordUsage(store, { ...two, usage: usage({ nodeSeconds: '5000' }) }),
    recordUsage(store, { ...one, usage: usage({ actions: '3', bandwidthMb: '0.1' }) }),
    recordUsage(store, { submissionId: notBegun, nodeId, usage: {} }),
  ]);
  expect(results.map(({ kind }) => kind)).toEqual([
    'recorded',
    'recorded',
    'recorded',
    'not_begun',
  ]);
  const rows = await database.query(
    `SELECT usage_node_seconds::text AS node, usage_cpu_seconds::text AS cpu, usage_bandwidth_mb::text AS mb,
       usage_actions::text AS actions FROM submissions WHERE id = ANY($1) ORDER BY created_at, id`,
    [[one.submissionId, two.submissionId]],
  );
  expect(rows).toEqual([
    { node: null, cpu: '1.234', mb: '0.1', actions: '7' },
    { node: expect.stringMatching(/^60(\.\d+)?$/), cpu: null, mb: null, actions: null },
  ]);
});
