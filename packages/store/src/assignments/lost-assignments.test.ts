import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import { disableNode, enableNode } from '../nodes/changes.ts';
import { recordHello } from '../nodes/links.ts';
import { createFixture, type Fixture, newLinkEpoch } from '../store.fixture.ts';
import { commitRunning } from './begin.ts';
import { commitDispatched } from './dispatch.ts';
import { endAfterDisable, endUnnamed, endUnsent } from './lost-assignments.ts';

async function createAssignments() {
  const fixture = await createFixture();
  const { store, tenant, hold, node } = fixture;
  const tenantId = await tenant();
  const nodeId = await node();
  const [dispatched, running] = [(await hold(tenantId)).id, (await hold(tenantId)).id];
  for (const submissionId of [dispatched, running]) {
    await commitDispatched(store, { submissionId, nodeId });
  }
  await commitRunning(store, { submissionId: running, nodeId, instanceId: 'first' });
  return { ...fixture, nodeId, dispatched, running };
}

async function commitWhileWaiting<T>(
  fixture: Fixture,
  statement: string,
  work: () => Promise<T>,
): Promise<T> {
  const other = await beginOther(fixture);
  await other.query(statement);
  const working = work();
  await untilLockWait(fixture);
  await other.commit();
  return await working;
}

test('a hello of the current link ends the assignments that it does not name, only of its node', async () => {
  const { store, nodeId, dispatched, running, node, state } = await createAssignments();
  const submissionIds = [dispatched, running];
  const other = await node();
  const foreign = { nodeId: other, linkEpoch: await newLinkEpoch(store, other), submissionIds };
  expect(await endUnnamed(store, foreign)).toEqual({ kind: 'lost', submissionIds: [] });
  const linkEpoch = await newLinkEpoch(store, nodeId);
  expect(await endUnnamed(store, { nodeId, linkEpoch, submissionIds })).toEqual({
    kind: 'lost',
    submissionIds: submissionIds.toSorted(),
  });
  expect([await state(dispatched), await state(running)]).toEqual(['settling', 'settling']);
});

test('a hello ends nothing if the node gets a newer link while its commit waits', async () => {
  const fixture = await createAssignments();
  const { store, nodeId, running, state } = fixture;
  const linkEpoch = await newLinkEpoch(store, nodeId);
  const upgrade = `UPDATE nodes SET link_epoch = link_epoch + 1 WHERE id = '${nodeId}'`;
  const finding = await commitWhileWaiting(fixture, upgrade, () =>
    endUnnamed(store, { nodeId, linkEpoch, submissionIds: [running] }),
  );
  expect(finding).toEqual({ kind: 'superseded' });
  expect(await state(running)).toBe('running');
  expect(await recordHello(store, { nodeId, agentVersion: '1', linkEpoch })).toBeNull();
});

test('a hello at a dispatcher without link numbers ends the numbered links before it', async () => {
  const { store, nodeId, running, database } = await createAssignments();
  const linkEpoch = await newLinkEpoch(store, nodeId);
  expect(await recordHello(store, { nodeId, agentVersion: '2', linkEpoch })).not.toBeNull();
  await database.query(
    `UPDATE nodes SET last_seen_at = svc_now(), agent_version = '2' WHERE id = $1`,
    [nodeId],
  );
  const late = await endUnnamed(store, { nodeId, linkEpoch, submissionIds: [running] });
  expect(late).toEqual({ kind: 'superseded' });
  const next = await newLinkEpoch(store, nodeId);
  expect(await recordHello(store, { nodeId, agentVersion: '2', linkEpoch: next })).not.toBeNull();
});

test('an unsent payload ends its submission only if that has not begun', async () => {
  const { store, nodeId, dispatched, running, state } = await createAssignments();
  expect(await endUnsent(store, { nodeId, submissionId: running })).toBe(false);
  expect(await endUnsent(store, { nodeId, submissionId: dispatched })).toBe(true);
  expect([await state(dispatched), await state(running)]).toEqual(['settling', 'running']);
});

test('assignments of a disabled node end only while the node is disabled', async () => {
  const fixture = await createAssignments();
  const { store, tenant, hold, nodeId, running, state } = fixture;
  await disableNode(store, nodeId, testAuthor);
  const { id: submissionId } = await hold(await tenant());
  await commitDispatched(store, { submissionId, nodeId });
  const enable = `UPDATE nodes SET disabled_at = NULL WHERE id = '${nodeId}'`;
  const lost = await commitWhileWaiting(fixture, enable, () => endAfterDisable(store, nodeId));
  expect(lost).toEqual([]);
  expect(await state(submissionId)).toBe('dispatched');
  expect(await state(running)).toBe('settling');
  await disableNode(store, nodeId, testAuthor);
  await enableNode(store, nodeId, testAuthor);
  expect(await state(submissionId)).toBe('settling');
});
