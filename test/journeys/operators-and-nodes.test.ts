import { waitUntil } from '@svc/testkit';
import { expect, test } from 'vitest';
import {
  application,
  clientOf,
  connectNode,
  eventOf,
  expectMoney,
  type Journey,
  refusal,
  shareStack,
} from '../support/journey.ts';

const sharedJourney = shareStack({ gateways: 2, dispatchers: 2 });

/**
 * Connects a node to the second dispatcher and creates a submission for it. Resolves when the
 * creation is answered and the node may act.
 */
async function begun(journey: Journey, key: string) {
  const node = await connectNode(journey, { slots: 2, dispatcher: 1 });
  const creation = journey.client.submit(application(key));
  const submissionId = await node.runNext();
  await creation;
  return { node, submissionId };
}

test('a drained node is notified, finishes its runs and gets no offers until it is enabled', async () => {
  const journey = await sharedJourney();
  const { stack, client } = journey;
  const { node, submissionId } = await begun(journey, 'drain');
  expect(await stack.svc(['node', 'show', node.nodeId])).toMatchObject({
    linked: true,
    link: { slots: 2, free: 1 },
    running: [{ submissionId, state: 'running' }],
  });
  await stack.svc(['node', 'drain', node.nodeId]);
  await node.next('drain');
  await waitUntil(async () => {
    const { code } = await refusal(client.submit(application(`refused ${Date.now()}`)));
    return code === 'dispatch_unavailable';
  });
  node.send({ type: 'completed', submissionId, usage: {}, result: {} });
  await node.next('ack');
  await eventOf(journey, submissionId, 'submission.completed');
  await stack.svc(['node', 'enable', node.nodeId]);
  expect((await node.closed).code).toBe(1012);
  const again = await node.reconnect();
  again.autoPilot();
  expect((await client.submit(application('enabled'))).status).toBe('dispatched');
});

test('a run on a disabled node ends as lost, its hold is released, and its late outcome moves no credits', async () => {
  const journey = await sharedJourney(5_000);
  const { stack, client } = journey;
  const { node, submissionId } = await begun(journey, 'disable');
  await stack.svc(['node', 'disable', node.nodeId]);
  expect((await node.closed).code).toBe(1008);
  await eventOf(journey, submissionId, 'submission.failed');
  expect(await client.getSubmission(submissionId)).toMatchObject({
    status: 'failed',
    actualCredits: 0,
    failure: { code: 'node_lost', outcomeUnknown: true },
  });
  await expectMoney(journey, { balance: 5_000, held: 0 });
  await expect(node.reconnect([submissionId])).rejects.toThrow('401');
  await stack.svc(['node', 'enable', node.nodeId]);
  const again = await node.reconnect([submissionId]);
  expect(again.welcome.stop).toEqual([submissionId]);
  again.send({ type: 'completed', submissionId, usage: {}, result: {} });
  await again.next('ack');
  await eventOf(journey, submissionId, 'submission.late_outcome');
  await expectMoney(journey, { balance: 5_000, held: 0 });
});

test('every gateway quotes and charges by a pinned surge within seconds, after FLUSHALL too', async () => {
  const journey = await sharedJourney();
  const { stack, tenant } = journey;
  const clients = stack.gatewayUrls.map((url) => clientOf(tenant, url));
  const surges = async (): Promise<number[]> =>
    await Promise.all(clients.map(async (client) => (await client.rateCard()).surgeMultiplier));
  const isEverywhere = async (surge: number): Promise<void> => {
    await waitUntil(async () => (await surges()).every((seen) => seen === surge), {
      timeoutMs: 5_000,
      what: `a surge of ${surge}`,
    });
  };
  await isEverywhere(1);
  await stack.svc(['surge', 'pin', '1.5']);
  await isEverywhere(1.5);
  await stack.flushRedis();
  await isEverywhere(1.5);
  const node = await connectNode({ stack });
  node.autoPilot();
  const { quote } = await journey.client.submit(application('pinned', 'x', 'instant'));
  expect(quote).toMatchObject({ surge: 1.5, max: 200 * 2.5 * 1.5 });
  await stack.svc(['surge', 'auto']);
  await waitUntil(async () => (await surges()).every((seen) => seen < 1.5), { timeoutMs: 5_000 });
});
