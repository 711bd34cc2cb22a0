import { toWireId } from '@svc/domain';
import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { commitRunning } from '../assignments/begin.ts';
import { commitDispatched } from '../assignments/dispatch.ts';
import { settle } from '../endings/endings.ts';
import { pinSurge, readSurgePin } from '../pricing/surge-pin.ts';
import { createFixture } from '../store.fixture.ts';
import { disableNode, drainNode, enableNode, rotateNodeSecret, setSlotsMax } from './changes.ts';
import { findChangedNodes, findNodeCredentials, findNodeSettings } from './credentials.ts';
import { findNode, touchNodes } from './nodes.ts';

type Fixture = Awaited<ReturnType<typeof createFixture>>;

async function actionsOf({ database }: Fixture, subjectId: string): Promise<string[]> {
  const rows = await database.query<{ action: string }>(
    'SELECT action FROM audit_log WHERE subject_id = $1 ORDER BY id',
    [subjectId],
  );
  return rows.map(({ action }) => action);
}

test('a drain and its end are audited with their author, and repeating them has no effect', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const nodeId = await fixture.node();
  expect(await drainNode(store, nodeId, testAuthor)).toMatchObject({ draining: true });
  await drainNode(store, nodeId, testAuthor);
  expect(await findNodeCredentials(store, nodeId)).toMatchObject({ draining: true });
  expect(await enableNode(store, nodeId, testAuthor)).toMatchObject({ draining: false });
  await enableNode(store, nodeId, testAuthor);
  expect(await findNode(store, nodeId)).toMatchObject({ draining: false, disabledAt: null });
  const subject = toWireId('nod', nodeId);
  expect(await actionsOf(fixture, subject)).toEqual(['node.create', 'node.drain', 'node.enable']);
});

test('the most slots of a node are changed and audited once', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const nodeId = await fixture.node();
  const change = { nodeId, slotsMax: 7 };
  expect(await setSlotsMax(store, change, testAuthor)).toMatchObject({ slotsMax: 7 });
  expect(await setSlotsMax(store, change, testAuthor)).toMatchObject({ slotsMax: 7 });
  expect(await findNode(store, nodeId)).toMatchObject({ slotsMax: 7 });
  expect(await actionsOf(fixture, toWireId('nod', nodeId))).toEqual(['node.create', 'node.update']);
});

test('assignments of a disabled node end as lost at once and settle with a full refund', async () => {
  const fixture = await createFixture();
  const { store, tenant, hold, node, figures, state, database } = fixture;
  const tenantId = await tenant(1_000);
  const [nodeId, other] = [await node(), await node()];
  const [dispatched, running, elsewhere] = [
    (await hold(tenantId)).id,
    (await hold(tenantId)).id,
    (await hold(tenantId)).id,
  ];
  for (const submissionId of [dispatched, running]) {
    await commitDispatched(store, { submissionId, nodeId });
  }
  await commitRunning(store, { submissionId: running, nodeId });
  await commitDispatched(store, { submissionId: elsewhere, nodeId: other });
  const disabled = await disableNode(store, nodeId, testAuthor);
  expect(disabled?.lostSubmissionIds.toSorted()).toEqual([dispatched, running].toSorted());
  expect(disabled?.node.disabledAt).toBeInstanceOf(Date);
  await settle(store, disabled?.lostSubmissionIds ?? []);
  const ended = await database.query(
    'SELECT state, failure_code, charged_micros::int AS charged FROM submissions WHERE node_id = $1',
    [nodeId],
  );
  const lost = { state: 'failed', failure_code: 'node_lost', charged: 0 };
  expect(ended).toEqual([lost, lost]);
  expect(await state(elsewhere)).toBe('dispatched');
  expect((await figures(tenantId)).held).toBe(200);
  expect(await findNodeCredentials(store, nodeId)).toMatchObject({ disabled: true });
  const again = await disableNode(store, nodeId, testAuthor);
  expect(again).toMatchObject({ lostSubmissionIds: [] });
  expect(await actionsOf(fixture, toWireId('nod', nodeId))).toEqual([
    'node.create',
    'node.disable',
  ]);
});

test('a second disable that ends an assignment is audited too', async () => {
  const { store, tenant, node, hold, database } = await createFixture();
  const nodeId = await node();
  await disableNode(store, nodeId, testAuthor);
  const { id: submissionId } = await hold(await tenant());
  await commitDispatched(store, { submissionId, nodeId });
  for (const lost of [[submissionId], []]) {
    const again = await disableNode(store, nodeId, testAuthor);
    expect(again?.lostSubmissionIds).toEqual(lost);
  }
  const audited = await database.query(
    "SELECT after->'lost' AS lost FROM audit_log WHERE action = 'node.disable' ORDER BY id",
  );
  expect(audited).toEqual([{ lost: 0 }, { lost: 1 }]);
});

test('two secrets are valid while a rotation overlaps, and a third only by force', async () => {
  const fixture = await createFixture();
  const { store, node, advance } = fixture;
  const nodeId = await node();
  const secrets = async () =>
    (await findNodeCredentials(store, nodeId))?.secrets.map(({ version, secret, expiresAt }) => ({
      version,
      secret,
      expires: expiresAt !== null,
    }));
  const rotate = (secret: string, force = false) =>
    rotateNodeSecret(store, { nodeId, secret, overlapMs: 60_000, force }, testAuthor);
  const [first, second, third] = [1, 2, 3].map((version) => ({
    version,
    secret: `nsk_${version}`,
    expires: false,
  }));
  expect(await secrets()).toEqual([first]);
  expect((await rotate('nsk_2')).kind).toBe('rotated');
  expect(await secrets()).toEqual([second, { ...first, expires: true }]);
  expect(await rotate('nsk_3')).toEqual({ kind: 'two_valid' });
  expect(await secrets()).toEqual([second, { ...first, expires: true }]);
  expect((await rotate('nsk_3', true)).kind).toBe('rotated');
  expect(await secrets()).toEqual([third, { ...second, expires: true }]);
  expect((await findNode(store, nodeId))?.previousSecretExpiresAt).toBeInstanceOf(Date);
  await advance(60_000);
  expect(await secrets()).toEqual([third]);
  expect((await findNode(store, nodeId))?.previousSecretExpiresAt).toBeNull();
  expect((await rotate('nsk_4')).kind).toBe('rotated');
});

test('dispatchers find every change since their last poll, including late commits', async () => {
  const { store, node, advance } = await createFixture();
  const nodeId = await node();
  await advance(60_000);
  const { now, changed } = await findChangedNodes(store, null);
  expect(changed).toEqual([]);
  await drainNode(store, nodeId, testAuthor);
  await advance(29_000);
  const settings = {
    nodeId,
    disabled: false,
    draining: true,
    slotsMax: 4,
    quarantinedUntil: null,
    secretVersion: 1,
    previousSecretExpiresAt: null,
  };
  const next = await findChangedNodes(store, new Date(now.getTime() + 29_000));
  expect(next.changed).toEqual([settings]);
  expect(next.now.getTime()).toBeGreaterThanOrEqual(now.getTime() + 29_000);
  expect(await findNodeSettings(store, nodeId)).toEqual(settings);
  await touchNodes(store, [nodeId]);
  expect((await findNode(store, nodeId))?.lastSeenAt).toBeInstanceOf(Date);
});

test('a dispatcher finds more nodes changed at the same time than one query returns', async () => {
  const { store, advance } = await createFixture();
  await advance(60_000);
  await store.query(
    `INSERT INTO nodes (id, name, secret_sealed, created_at, changed_at)
     SELECT gen_random_uuid(), 'node', '', svc_now(), svc_now() FROM generate_series(1, 10001)`,
    [],
  );
  const { changed } = await findChangedNodes(store, null);
  expect(new Set(changed.map(({ nodeId }) => nodeId)).size).toBe(10_001);
});

test('every operation reports an unknown node as unknown', async () => {
  const { store } = await createFixture();
  const nodeId = store.newId();
  expect(await drainNode(store, nodeId, testAuthor)).toBeNull();
  expect(await enableNode(store, nodeId, testAuthor)).toBeNull();
  expect(await disableNode(store, nodeId, testAuthor)).toBeNull();
  expect(await setSlotsMax(store, { nodeId, slotsMax: 7 }, testAuthor)).toBeNull();
  const rotation = { nodeId, secret: 'nsk_2', overlapMs: 0, force: true };
  expect(await rotateNodeSecret(store, rotation, testAuthor)).toEqual({ kind: 'unknown_node' });
  expect(await findNode(store, nodeId)).toBeNull();
  expect(await findNodeSettings(store, nodeId)).toBeNull();
  expect(await findNodeCredentials(store, nodeId)).toBeNull();
});

test('a surge pin stays until it is removed, and both are audited', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  expect(await readSurgePin(store)).toBeNull();
  await pinSurge(store, 1_500_000n, testAuthor);
  expect(await readSurgePin(store)).toBe(1_500_000n);
  await pinSurge(store, null, testAuthor);
  expect(await readSurgePin(store)).toBeNull();
  expect(await actionsOf(fixture, 'surge')).toEqual(['surge.pin', 'surge.auto']);
  await expect(pinSurge(store, 3_000_001n, testAuthor)).rejects.toThrow('surge_pin_range');
});
