import { leaseMs, quarantineMs, startDeadlineMs } from '@svc/domain';
import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { enableNode } from '../nodes/changes.ts';
import { recordHello } from '../nodes/links.ts';
import { findNode } from '../nodes/nodes.ts';
import { createFixture, newLinkEpoch } from '../store.fixture.ts';
import { commitRunning } from './begin.ts';
import { commitDispatched } from './dispatch.ts';
import { endUnnamed } from './lost-assignments.ts';
import { storeOutcome } from './outcomes.ts';
import { storeServiceFailure } from './service-failures.ts';

async function createFailingNode() {
  const fixture = await createFixture();
  const { store, tenant, hold, node, advance } = fixture;
  const tenantId = await tenant(1_000_000);
  const nodeId = await node();
  const give = async (): Promise<string> => {
    const { id: submissionId } = await hold(tenantId, { max: 10 });
    await commitDispatched(store, { submissionId, nodeId });
    return submissionId;
  };
  const ways = {
    async not_started() {
      const submissionId = await give();
      await advance(startDeadlineMs);
      await storeServiceFailure(store, { submissionId, code: 'not_started' });
    },
    async node_lost() {
      const submissionId = await give();
      await commitRunning(store, { submissionId, nodeId });
      await advance(leaseMs);
      await storeServiceFailure(store, { submissionId, code: 'node_lost' });
    },
    async unnamed() {
      const submissionIds = [await give()];
      const linkEpoch = await newLinkEpoch(store, nodeId);
      await endUnnamed(store, { nodeId, linkEpoch, submissionIds });
    },
    async node_error() {
      const submissionId = await give();
      const outcome = { kind: 'failed', usage: {}, code: 'node_error', message: '' } as const;
      return await storeOutcome(store, { submissionId, nodeId, outcome });
    },
    async node_error_unsubmitted() {
      const submissionId = await give();
      await commitRunning(store, { submissionId, nodeId });
      const stated = { submitted: false };
      const outcome = {
        kind: 'failed',
        usage: {},
        code: 'node_error',
        message: '',
        stated,
      } as const;
      return await storeOutcome(store, { submissionId, nodeId, outcome });
    },
    async captcha() {
      const submissionId = await give();
      const outcome = { kind: 'failed', usage: {}, code: 'captcha', message: '' } as const;
      return await storeOutcome(store, { submissionId, nodeId, outcome });
    },
  };
  /**
   * The milliseconds until the end of the quarantine, rounded up to whole seconds. Null if the node
   * is not in quarantine.
   */
  const quarantine = async (): Promise<number | null> => {
    const until = (await findNode(store, nodeId))?.quarantinedUntil ?? null;
    const [row] = await fixture.database.query<{ now: Date }>('SELECT svc_now() AS now');
    return until === null ? null : Math.ceil((until.getTime() - Number(row?.now)) / 1000) * 1000;
  };
  return { ...fixture, nodeId, ways, quarantine, give };
}

type Way = keyof Awaited<ReturnType<typeof createFailingNode>>['ways'];

test.each<[string, Way[], number | null]>([
  ['two assignments that are lost', ['node_lost', 'not_started'], null],
  ['three that are lost, in whatever way', ['node_lost', 'not_started', 'unnamed'], 60_000],
  ['three with an outcome in between', ['unnamed', 'unnamed', 'captcha', 'unnamed'], null],
  ['three with a node_error in between', ['unnamed', 'unnamed', 'node_error', 'unnamed'], 60_000],
  ['four that end node_error', ['node_error', 'node_error', 'node_error', 'node_error'], null],
  ['five that end node_error', Array.from({ length: 5 }, () => 'node_error' as const), 60_000],
  ['five after which nothing was sent', Array(5).fill('node_error_unsubmitted'), 60_000],
])('a node is quarantined after the number of failures in the contract: %s', async (_, all, is) => {
  const { ways, quarantine } = await createFailingNode();
  for (const way of all) await ways[way]();
  expect(await quarantine()).toBe(is);
});

test('each failure after a quarantine makes the next one longer, up to two hours', async () => {
  const { ways, quarantine, advance } = await createFailingNode();
  await ways.unnamed();
  await ways.unnamed();
  for (const expectedMs of [...quarantineMs, 7_200_000]) {
    await ways.unnamed();
    expect(await quarantine()).toBe(expectedMs);
    await advance(expectedMs);
    expect(await quarantine()).toBeNull();
  }
  await ways.captcha();
  await ways.unnamed();
  expect(await quarantine()).toBeNull();
});

test('an assignment from before a quarantine does not make it longer', async () => {
  const { ways, quarantine, give, nodeId, store } = await createFailingNode();
  const early = [await give(), await give()];
  for (let count = 0; count < 3; count += 1) await ways.unnamed();
  const linkEpoch = await newLinkEpoch(store, nodeId);
  await endUnnamed(store, { nodeId, linkEpoch, submissionIds: early });
  expect(await quarantine()).toBe(60_000);
});

test('an operator lifts a quarantine and its counts, and the next hello reports neither', async () => {
  const { ways, quarantine, nodeId, store } = await createFailingNode();
  for (let count = 0; count < 3; count += 1) await ways.unnamed();
  expect(await findNode(store, nodeId)).toMatchObject({ quarantineReason: 'unfinished' });
  const hello = async () =>
    await recordHello(store, {
      nodeId,
      agentVersion: '1',
      linkEpoch: await newLinkEpoch(store, nodeId),
    });
  expect((await hello())?.quarantinedUntil).toBeInstanceOf(Date);
  await enableNode(store, nodeId, testAuthor);
  expect(await quarantine()).toBeNull();
  expect(await hello()).toEqual({ quarantinedUntil: null });
  await ways.unnamed();
  await ways.unnamed();
  expect(await quarantine()).toBeNull();
  await ways.unnamed();
  expect(await quarantine()).toBe(quarantineMs[0]);
});

const said = (isQuarantined: boolean) => ({ kind: 'stored', isQuarantined });

test('only the outcome that quarantines its node says so', async () => {
  const { ways } = await createFailingNode();
  const stored = [];
  for (let count = 0; count < 5; count += 1) stored.push(await ways.node_error());
  expect(stored).toEqual([said(false), said(false), said(false), said(false), said(true)]);
});

test('an outcome in the same statement as one that quarantines a node does not say so', async () => {
  const { ways, store, tenant, hold, node, give, nodeId } = await createFailingNode();
  for (let count = 0; count < 4; count += 1) await ways.node_error();
  const [last, other] = [await give(), await node()];
  const { id: submissionId } = await hold(await tenant());
  await commitDispatched(store, { submissionId, nodeId: other });
  const outcome = { kind: 'failed', usage: {}, code: 'node_error', message: '' } as const;
  const stored = await Promise.all([
    storeOutcome(store, { submissionId, nodeId: other, outcome }),
    storeOutcome(store, { submissionId: last, nodeId, outcome }),
  ]);
  expect(stored).toEqual([said(false), said(true)]);
});
