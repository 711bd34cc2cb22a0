import { createFleetRegistry } from '@svc/queue';
import { disableNode, drainNode, enableNode, rotateNodeSecret } from '@svc/store';
import { linkRequest, LinkRefused, openLinkSocket, testAuthor, waitUntil } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { useDispatching, uuidOf, type Credentials } from '../dispatcher.fixture.ts';

const service = await useDispatching({ dispatchers: 2 });

async function running(own: Credentials) {
  const node = await service.connect({ ...own, slots: 2, dispatcher: 1 });
  const { id } = await service.post();
  const submissionId = await node.runNext();
  return { node, id, submissionId };
}

async function statusOf(own: Credentials): Promise<number> {
  try {
    const socket = await openLinkSocket(linkRequest({ link: service.links[0] ?? '', ...own }));
    socket.terminate();
    return 101;
  } catch (error) {
    if (error instanceof LinkRefused) return error.status;
    throw error;
  }
}

describe('a node that an operator drains', () => {
  test('gets drain, finishes its runs, and gets no offers until it is enabled, also after a reconnect', async () => {
    const own = await service.newNode();
    const { node, id, submissionId } = await running(own);
    await drainNode(service.store, uuidOf(own.nodeId), testAuthor);
    await service.notify(own);
    await node.next('drain', { timeoutMs: 1_000 });
    const registry = createFleetRegistry({ redis: service.redis, prefix: service.prefix });
    await waitUntil(async () => (await registry.capacity()).slots === 0);
    await waitUntil(async () => !(await service.isOffered()));
    await node.close();
    const again = await service.connect({ ...own, slots: 2, running: [submissionId] });
    await again.next('drain');
    expect(await service.isOffered()).toBe(false);
    again.send({ type: 'completed', submissionId, usage: {}, result: {} });
    await again.next('ack');
    expect((await service.row(id))?.state).toBe('settling');
    await enableNode(service.store, uuidOf(own.nodeId), testAuthor);
    await service.notify(own);
    expect((await again.closed).code).toBe(1012);
    const enabled = await service.connect(own);
    enabled.autoPilot();
    expect(await service.isOffered()).toBe(true);
    expect(enabled.frames.map(({ type }) => type)).not.toContain('drain');
    await enabled.close();
  });

  test('gets drain also if the message was lost, and after the welcome of a new link', async () => {
    const own = await service.newNode();
    const node = await service.connect({ ...own, dispatcher: 1 });
    await drainNode(service.store, uuidOf(own.nodeId), testAuthor);
    await node.next('drain');
    await node.close();
    const later = await service.connect(own);
    await later.next('drain');
    expect(later.frames.map(({ type }) => type)).toEqual(['welcome', 'drain']);
    await later.close();
  });
});

describe('a node that an operator disables', () => {
  test('loses its link and its runs at once, and new links are refused', async () => {
    const own = await service.newNode();
    const { node, id } = await running(own);
    const disabled = await disableNode(service.store, uuidOf(own.nodeId), testAuthor);
    expect(disabled?.lostSubmissionIds).toEqual([id]);
    await service.notify(own);
    expect(await node.closed).toMatchObject({ code: 1008 });
    expect(await service.row(id)).toMatchObject({ state: 'settling', failure_code: 'node_lost' });
    expect(await statusOf(own)).toBe(401);
    await enableNode(service.store, uuidOf(own.nodeId), testAuthor);
    expect(await statusOf(own)).toBe(101);
  });

  test('loses its link also if its runs cannot be read, and other links stay', async () => {
    const own = await service.newNode();
    const node = await service.connect({ ...own, dispatcher: 1 });
    const other = await service.connect({ dispatcher: 1 });
    await disableNode(service.store, uuidOf(own.nodeId), testAuthor);
    await service.database.query('ALTER TABLE submissions RENAME TO submissions_away');
    await service.notify(own);
    expect(await node.closed).toMatchObject({ code: 1008 });
    await service.database.query('ALTER TABLE submissions_away RENAME TO submissions');
    other.autoPilot();
    expect(await service.isOffered()).toBe(true);
    await other.close();
  });

  test('loses its link if the message was lost, and loses what was committed to it meanwhile', async () => {
    const own = await service.newNode();
    const node = await service.connect({ ...own, dispatcher: 1 });
    const { id } = await service.post();
    const { offerId } = await node.next('offer');
    const unlock = await service.lockRow(id);
    node.send({ type: 'accept', offerId });
    await disableNode(service.store, uuidOf(own.nodeId), testAuthor);
    expect((await node.closed).code).toBe(1008);
    await unlock();
    await waitUntil(async () => (await service.row(id))?.state === 'settling');
    expect(await service.row(id)).toMatchObject({ failure_code: 'node_lost' });
    expect(node.frames.map(({ type }) => type)).not.toContain('assign');
  });
});

async function rotate(own: Credentials, secret: string, overlapMs: number): Promise<void> {
  const rotation = { nodeId: uuidOf(own.nodeId), secret, overlapMs, force: false };
  await rotateNodeSecret(service.store, rotation, testAuthor);
}

describe('a secret that is rotated', () => {
  test('opens links until it expires, and its links end when it expires', async () => {
    const own = await service.newNode();
    const node = await service.connect({ ...own, dispatcher: 1 });
    await rotate(own, 'nsk_second', 60_000);
    const second = { ...own, secret: 'nsk_second' };
    expect([await statusOf(own), await statusOf(second)]).toEqual([101, 101]);
    await service.notify(own);
    await service.advance(60_000);
    expect((await node.closed).code).toBe(1008);
    expect([await statusOf(own), await statusOf(second)]).toEqual([401, 101]);
  });

  test('ends a link at its expiry, even if the link was opened long after the rotation', async () => {
    const own = await service.newNode();
    await rotate(own, 'nsk_second', 120_000);
    await service.advance(60_000);
    const node = await service.connect({ ...own, dispatcher: 1 });
    await service.advance(60_000);
    expect((await node.closed).code).toBe(1008);
  });

  test('without an overlap ends its links within 5 s, and a link of the newer secret stays', async () => {
    const own = await service.newNode();
    const node = await service.connect({ ...own, dispatcher: 1 });
    await rotate(own, 'nsk_second', 0);
    const rotatedAtMs = performance.now();
    expect(await statusOf(own)).toBe(401);
    expect((await node.closed).code).toBe(1008);
    expect(performance.now() - rotatedAtMs).toBeLessThan(5_000);
    const newer = await service.connect({ ...own, secret: 'nsk_second' });
    await service.notify(own);
    newer.autoPilot();
    expect(await service.isOffered()).toBe(true);
    await newer.close();
  });
});
