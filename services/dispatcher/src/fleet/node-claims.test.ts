import { foreignFramesMax, foreignFramesWindowMs, quarantineMs, toWireId } from '@svc/domain';
import { createFleetRegistry } from '@svc/queue';
import { newId } from '@svc/runtime';
import { enableNode, setSlotsMax } from '@svc/store';
import {
  linkRequest,
  openLinkSocket,
  testAuthor,
  waitUntil,
  type ScriptedNode,
} from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { useDispatching, frameTypesOf, uuidOf } from '../dispatcher.fixture.ts';

/**
 * Tests that the service believes a node only within limits (CONTRACT 7, "What a node may claim").
 */

const service = await useDispatching({ dispatchers: 2 });

async function capacity() {
  const { redis, prefix } = service;
  return await createFleetRegistry({ redis, prefix }).capacity('ats.application');
}

async function expectCapacity(slots: number, free: number): Promise<void> {
  const isIt = async (): Promise<boolean> => {
    const found = await capacity();
    return found.slots === slots && found.free === free;
  };
  await waitUntil(isIt, { what: `${free} of ${slots} slots free` });
}

function invented(count: number): string[] {
  return Array.from({ length: count }, () => toWireId('sub', newId()));
}

describe('slots', () => {
  test('are limited by the operator, whatever the node asks for, and follow a change of the limit', async () => {
    const own = await service.newNode(3);
    const node = await service.connect({ ...own, slots: 1_000 });
    await expectCapacity(3, 3);
    await setSlotsMax(service.store, { nodeId: uuidOf(own.nodeId), slotsMax: 5 }, testAuthor);
    await service.notify(own);
    await expectCapacity(5, 5);
    await node.close();
    const again = await service.connect({ ...own, slots: 2 });
    await expectCapacity(2, 2);
    await again.close();
  });

  test('are not taken by ids that a node invents, which come back in stop', async () => {
    const running = invented(1_000);
    const node = await service.connect({ slots: 10, running });
    expect(node.welcome.stop).toEqual(running);
    expect(await capacity()).toEqual({ slots: 10, free: 10 });
    for (const submissionId of running) node.send({ type: 'stopped', submissionId, usage: {} });
    expect(await service.isOffered()).toBe(false);
    expect(frameTypesOf(node)).toContain('offer');
    await node.close();
  });

  test('are taken by the assignments of the node, and not by those that have ended', async () => {
    const own = await service.newNode();
    const node = await service.connect({ ...own, slots: 4 });
    await service.post();
    const live = await node.runNext();
    await service.post();
    const over = await node.runNext();
    node.send({ type: 'completed', submissionId: over, usage: {}, result: {} });
    await node.next('ack');
    await node.cut();
    const again = await service.connect({ ...own, slots: 4, running: [live, over] });
    expect(again.welcome.stop).toEqual([over]);
    await expectCapacity(4, 3);
    await again.close();
  });

  test('limit the number of ids in a hello', async () => {
    const own = await service.newNode(2);
    const socket = await openLinkSocket(linkRequest({ link: service.links[0] ?? '', ...own }));
    const answers: string[] = [];
    socket.on('message', (data: Buffer) => answers.push(JSON.parse(data.toString()).type));
    const hello = { type: 'hello', agentVersion: 'x', jobTypes: ['ats.application'], slots: 2 };
    socket.send(JSON.stringify({ ...hello, running: invented(1_003) }));
    await waitUntil(() => answers.length === 1);
    socket.send(JSON.stringify({ ...hello, running: invented(1_002) }));
    await waitUntil(() => answers.length === 2);
    expect(answers).toEqual(['error', 'welcome']);
    socket.terminate();
  });
});

async function sayForeign(node: ScriptedNode, count: number): Promise<void> {
  for (const [index, submissionId] of invented(count).entries()) {
    if (index % 3 === 0) node.send({ type: 'start', submissionId });
    else if (index % 3 === 1) node.send({ type: 'usage', submissionId, usage: {} });
    else node.send({ type: 'completed', submissionId, usage: {}, result: {} });
  }
}

const steps = 6;

describe('frames about submissions that are not its own', () => {
  test('close the link (1008) after more than 100 in a minute', async () => {
    const node = await service.connect();
    await sayForeign(node, foreignFramesMax);
    const answered = (): number =>
      frameTypesOf(node).filter((type) => type === 'cancel' || type === 'ack').length;
    await waitUntil(() => answered() === foreignFramesMax);
    node.send({ type: 'usage', submissionId: 'sub_x', usage: {} });
    expect((await node.closed).code).toBe(1008);
  });

  test('do not close it over a longer time, nor do frames about submissions that have ended', async () => {
    const node = await service.connect();
    await sayForeign(node, foreignFramesMax);
    await waitUntil(() => frameTypesOf(node).length > foreignFramesMax);
    // Time moves in steps, and the node sends a frame in each, because a silent link is closed.
    for (let step = 1; step <= steps; step += 1) {
      service.clock.advance(foreignFramesWindowMs / steps);
      node.send({ type: 'accept', offerId: `step ${step}` });
      await node.next('revoke', { where: ({ offerId }) => offerId === `step ${step}` });
    }
    const { id } = await service.post();
    const submissionId = await node.runNext();
    await service.cancel(id);
    node.send({ type: 'completed', submissionId, usage: {}, result: {} });
    await node.next('ack', { where: (frame) => frame.submissionId === submissionId });
    for (let count = 0; count <= foreignFramesMax; count += 1) {
      node.send({ type: 'usage', submissionId, usage: {} });
    }
    node.send({ type: 'accept', offerId: 'last' });
    const last = await node.next('revoke', { where: ({ offerId }) => offerId === 'last' });
    expect(last.offerId).toBe('last');
    await node.close();
  });
});

async function fail(node: ScriptedNode): Promise<void> {
  await service.post();
  const { offerId, submissionId } = await node.next('offer');
  node.send({ type: 'accept', offerId });
  await node.next('assign', { where: (frame) => frame.submissionId === submissionId });
  const failure = { code: 'node_error', message: 'no' } as const;
  node.send({ type: 'failed', submissionId, usage: {}, failure });
  await node.next('ack', { where: (frame) => frame.submissionId === submissionId });
}

describe('a node that does not finish its jobs', () => {
  test('gets no offers after its fifth node_error until its quarantine ends, also after a loss of Redis and link', async () => {
    const own = await service.newNode();
    const node = await service.connect({ ...own, slots: 4 });
    for (let count = 0; count < 5; count += 1) await fail(node);
    expect(await service.isOffered()).toBe(false);
    expect(await capacity()).toEqual({ slots: 0, free: 0 });
    await node.cut();
    await service.flush();
    const again = await service.connect({ ...own, slots: 4, dispatcher: 1 });
    expect(await service.isOffered()).toBe(false);
    await service.advance(quarantineMs[0]);
    await expectCapacity(4, 4);
    again.autoPilot();
    expect(await service.isOffered()).toBe(true);
    await again.close();
  });

  test('gets offers again as soon as an operator enables it', async () => {
    const own = await service.newNode();
    for (let count = 0; count < 3; count += 1) {
      const node = await service.connect({ ...own, slots: 1 });
      await service.post();
      const { offerId } = await node.next('offer');
      node.send({ type: 'accept', offerId });
      await node.next('assign');
      await node.cut();
    }
    const node = await service.connect({ ...own, slots: 1 });
    expect(await service.isOffered()).toBe(false);
    expect(frameTypesOf(node)).toEqual(['welcome']);
    await enableNode(service.store, uuidOf(own.nodeId), testAuthor);
    await service.notify(own);
    await expectCapacity(1, 1);
    node.autoPilot();
    expect(await service.isOffered()).toBe(true);
    await node.close();
  });
});
