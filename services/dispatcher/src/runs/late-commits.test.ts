import { cancelSubmission } from '@svc/store';
import { lockTables, waitUntil, type ScriptedNode } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { useDispatching, frameTypesOf } from '../dispatcher.fixture.ts';

const service = await useDispatching({ dispatchers: 2 });

describe('an accept whose link is gone before it is committed', () => {
  test('ends as lost at once, although the next hello was answered before the commit', async () => {
    const own = await service.newNode();
    const node = await service.connect({ ...own, dispatcher: 1 });
    const { id } = await service.post();
    const { offerId } = await node.next('offer');
    const unlock = await service.lockRow(id);
    node.send({ type: 'accept', offerId });
    // The dispatcher begins to handle the `accept` before this `usage`. So when `cancel` answers
    // the `usage`, the commit of the `accept` has begun. The commit waits for `unlock`.
    node.send({ type: 'usage', submissionId: 'sub_x', usage: {} });
    await node.next('cancel');
    await node.cut();
    const again = await service.connect(own);
    await unlock();
    await waitUntil(async () => (await service.stateOf(id)) === 'settling');
    expect((await service.row(id))?.failure_code).toBe('node_lost');
    // The first submission, which the node never got, takes no slot of the node.
    again.autoPilot();
    const next = await service.post();
    await service.expectState(next.id, 'settling');
    await again.close();
  });
});

test('a node that sends start before its accept is committed gets cancel, and then assign', async () => {
  const node = await service.connect();
  const { id, wireId, replied } = await service.post();
  const { offerId } = await node.next('offer');
  const unlock = await service.lockRow(id);
  node.send({ type: 'accept', offerId });
  node.send({ type: 'start', submissionId: wireId });
  await node.next('cancel');
  await unlock();
  expect(await replied).toBe('dispatched');
  expect(await node.next('assign')).toMatchObject({ offerId, submissionId: wireId });
  node.send({ type: 'start', submissionId: wireId });
  expect(await node.next('begin')).toEqual({ type: 'begin', submissionId: wireId });
  await node.close();
});

test('a submission that ends while a hello is handled takes no slot of the node', async () => {
  const own = await service.newNode();
  const { id, wireId } = await assignedTo(await service.connect(own));
  const { databaseUrl, query } = service.database;
  const unlock = await lockTables(databaseUrl, ['recoveries'], 'ACCESS EXCLUSIVE');
  const connecting = service.connect({ ...own, running: [wireId] });
  // The hello has read the assignments, and waits for the lock before it takes their slots.
  await waitUntil(async () => {
    const waiting = await query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return waiting.length > 0;
  });
  const [row] = await query<{ tenantId: string }>(
    'SELECT tenant_id AS "tenantId" FROM submissions WHERE id = $1',
    [id],
  );
  const tenantId = row?.tenantId ?? '';
  await cancelSubmission(service.store, { submissionId: id, tenantId, by: 'tenant' });
  await unlock();
  const node = await connecting;
  expect(await node.next('cancel')).toMatchObject({ submissionId: wireId });
  await node.close();
});

async function assignedTo(node: ScriptedNode): Promise<{ id: string; wireId: string }> {
  const { id, wireId } = await service.post();
  const { offerId } = await node.next('offer');
  node.send({ type: 'accept', offerId });
  await node.next('assign');
  await node.cut();
  return { id, wireId };
}

/**
 * Assigns a submission. `cutAndComeBack` sends a frame with `say`, cuts the link while the commit
 * of this frame waits in Postgres, and connects the node again.
 */
async function saidAndCut(say: (node: ScriptedNode, submissionId: string) => void) {
  const own = await service.newNode();
  const node = await service.connect({ ...own, dispatcher: 1 });
  const { id, wireId } = await service.post();
  const { offerId } = await node.next('offer');
  node.send({ type: 'accept', offerId });
  await node.next('assign');
  return {
    id,
    wireId,
    async cutAndComeBack() {
      const unlock = await service.lockRow(id);
      say(node, wireId);
      node.send({ type: 'usage', submissionId: 'sub_x', usage: {} });
      await node.next('cancel');
      await node.cut();
      const again = await service.connect({ ...own, running: [wireId] });
      return { again, unlock };
    },
    node,
  };
}

describe('a frame whose link is gone before it is committed', () => {
  test("start: the run is the node's, which sends start again and gets begin", async () => {
    const said = await saidAndCut((node, submissionId) =>
      node.send({ type: 'start', submissionId }),
    );
    const { again, unlock } = await said.cutAndComeBack();
    expect(again.welcome.stop).toEqual([]);
    await unlock();
    await service.expectState(said.id, 'running');
    expect(frameTypesOf(said.node)).not.toContain('begin');
    again.send({ type: 'start', submissionId: said.wireId });
    await again.next('begin');
    again.send({ type: 'completed', submissionId: said.wireId, usage: {}, result: {} });
    await again.next('ack');
    expect(await service.stateOf(said.id)).toBe('settling');
  });

  test('an outcome: it counts once, and its repetition is acknowledged', async () => {
    const failure = { code: 'posting_closed', message: 'closed' } as const;
    const failed = { type: 'failed', usage: {}, failure } as const;
    const said = await saidAndCut((node, submissionId) => node.send({ ...failed, submissionId }));
    const { again, unlock } = await said.cutAndComeBack();
    again.send({ ...failed, submissionId: said.wireId });
    await unlock();
    expect(await again.next('ack')).toEqual({ type: 'ack', submissionId: said.wireId });
    expect(await service.row(said.id)).toMatchObject({
      state: 'settling',
      failure_code: 'posting_closed',
    });
  });
});
