import { waitUntil } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditMoney } from '../support/audit.ts';
import { type Fleet, type FleetNode, startFleet } from '../support/fleet.ts';
import { application, eventOf, type Journey } from '../support/journey.ts';

/**
 * The tests stop or kill a dispatcher while jobs run or an offer is open. They check that no job is
 * lost (CONTRACT 7).
 */

let fleet: Fleet;

beforeAll(async () => {
  fleet = await startFleet();
});

afterAll(() => fleet.close());

interface Running {
  readonly node: FleetNode;
  readonly submissionId: string;
}

async function tenRunning(journey: Journey): Promise<Running[]> {
  const nodes = await fleet.ten(() => 1);
  const begun = nodes.map(async (node) => ({ node, submissionId: await node.runNext() }));
  await Promise.all(
    nodes.map((_, index) => journey.client.submit(application(`run ${index}`, 'model', 'instant'))),
  );
  return await Promise.all(begun);
}

async function expectAllComplete(journey: Journey, running: readonly Running[]): Promise<void> {
  for (const { node, submissionId } of running) {
    node.send({ type: 'completed', submissionId, usage: {}, result: {} });
    await node.next('ack');
  }
  for (const { submissionId } of running) {
    const ended = await journey.client.waitFor(submissionId, { timeoutMs: 15_000 });
    expect(ended).toMatchObject({ status: 'submitted', actualCredits: expect.any(Number) });
    await eventOf(journey, submissionId, 'submission.completed');
  }
  expect(await auditMoney(fleet.stack.query)).toEqual([]);
}

async function moveFrom(dispatcher: number, running: readonly Running[]): Promise<Running[]> {
  return await Promise.all(
    running.map(async ({ node, submissionId }) => {
      if (node.dispatcher !== dispatcher) return { node, submissionId };
      await node.closed;
      const again = await node.again({ dispatcher: 1 - dispatcher, running: [submissionId] });
      expect(again.welcome.stop).toEqual([]);
      return { node: again, submissionId };
    }),
  );
}

test('a dispatcher that stops closes its links with 1012, and every run continues at the other', async () => {
  const journey = await fleet.journey();
  const running = await tenRunning(journey);
  const stopped = fleet.stack.stop('dispatcher', 1);
  const moved = await moveFrom(1, running);
  for (const { node } of running.filter((one) => one.node.dispatcher === 1)) {
    expect((await node.closed).code).toBe(1012);
  }
  await stopped;
  const spare = await fleet.node({ dispatcher: 0 });
  spare.autoPilot();
  const during = await journey.client.submit(application('during the deploy', 'model', 'instant'));
  await journey.client.waitFor(during.submissionId, { timeoutMs: 15_000 });
  await expectAllComplete(journey, moved);
  await fleet.stack.restart('dispatcher', 1);
});

test('an offer that is open when its dispatcher stops is still answered, and nothing is lost', async () => {
  const journey = await fleet.journey();
  const node = await fleet.node({ dispatcher: 1 });
  const creation = journey.client.submit(application('open offer', 'model', 'instant'));
  const { offerId, submissionId } = await node.next('offer');
  const stopped = fleet.stack.stop('dispatcher', 1);
  node.send({ type: 'accept', offerId });
  const status = await creation.then(
    (created) => created.status,
    (error: unknown) => error,
  );
  await node.closed;
  await stopped;
  expect(status).toBe('dispatched');
  const again = await node.again({ dispatcher: 0, running: [submissionId] });
  expect(again.welcome.stop).toEqual([]);
  again.send({ type: 'start', submissionId });
  await again.next('begin');
  await expectAllComplete(journey, [{ node: again, submissionId }]);
  await fleet.stack.restart('dispatcher', 1);
});

test('kill -9 of a dispatcher loses no run: the other dispatcher takes its nodes and new jobs', async () => {
  const journey = await fleet.journey();
  const running = await tenRunning(journey);
  await fleet.stack.kill('dispatcher', 0);
  const moved = await moveFrom(0, running);
  await expectAllComplete(journey, moved);
  const node = moved[0]?.node;
  node?.autoPilot();
  // The other nine nodes answer no offers. A creation fails if its deadline comes before `node` gets
  // an offer.
  await waitUntil(async () => {
    const created = journey.client.submit(application(`after ${performance.now()}`, 'model'));
    return await created.then(
      () => true,
      () => false,
    );
  });
  await fleet.stack.restart('dispatcher', 0);
});
