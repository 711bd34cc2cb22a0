import { ApiError, type Client } from '@svc/client';
import { type ServiceName, waitUntil } from '@svc/testkit';
import { expect, test } from 'vitest';
import {
  application,
  clientOf,
  endingEvents,
  eventOf,
  expectMoney,
  type Journey,
  refusal,
  shareStack,
} from '../support/journey.ts';

/**
 * The tests empty Redis or kill a service between two steps, such as a commit and the message about
 * it. They check the money, and that each submission ends once.
 */

const newJourney = shareStack({ gateways: 2, nodes: 1, failpoints: true });

interface Fault {
  readonly name: 'FLUSHALL' | 'kill -9';
  readonly strike: (journey: Journey, service: ServiceName, failpoint: string) => Promise<void>;
}

const flush: Fault = {
  name: 'FLUSHALL',
  async strike({ stack }, service, failpoint) {
    await stack.flushRedis();
    stack.releaseFailpoint(service, failpoint);
  },
};

const kill: Fault = {
  name: 'kill -9',
  async strike({ stack }, service) {
    await stack.kill(service);
    await stack.restart(service);
  },
};

/**
 * Creates a submission, and applies `fault` when the service reaches the failpoint. If the fault
 * kills the gateway, `creation` may reject, because the gateway's answer may be lost.
 */
async function strikeAt(
  service: ServiceName,
  failpoint: string,
  fault: Fault,
): Promise<
  Journey & { creation: ReturnType<Client['submit']>; submissionId: () => Promise<string> }
> {
  const started = await newJourney();
  await started.stack.armFailpoint(service, failpoint);
  const creation = createOn(started);
  const reached = started.stack.failpointReached(service, failpoint);
  // If the creation is refused before the failpoint is reached, the race rejects with the refusal,
  // which is a clearer error than a timeout.
  await Promise.race([reached, creation.then(() => reached)]);
  await fault.strike(started, service, failpoint);
  return { ...started, creation, submissionId: async () => (await creation).submissionId };
}

/** On a busy machine, the node's answer to the offer may be late. Then nothing is held or sent. */
async function createOn({ client }: Journey): ReturnType<Client['submit']> {
  try {
    return await client.submit(application('crash'));
  } catch (error) {
    if (error instanceof ApiError && error.code === 'dispatch_unavailable') {
      return client.submit(application('crash'));
    }
    throw error;
  }
}

async function expectSubmitted(journey: Journey, submissionId: string): Promise<void> {
  const ended = await journey.client.waitFor(submissionId, { timeoutMs: 25_000 });
  expect(ended.status).toBe('submitted');
  const webhook = await eventOf(journey, submissionId, 'submission.completed');
  expect(webhook.event.data['actualCredits']).toBe(ended.actualCredits);
  const balance = Math.round((5_000 - (ended.actualCredits ?? 0)) * 1e6) / 1e6;
  await expectMoney(journey, { balance, held: 0 });
  expect(endingEvents(journey, submissionId)).toHaveLength(1);
}

async function expectLost(journey: Journey, submissionId: string): Promise<void> {
  const ended = await journey.client.waitFor(submissionId, { timeoutMs: 25_000 });
  expect(ended).toMatchObject({
    status: 'failed',
    actualCredits: 0,
    refundedCredits: 200,
    failure: { code: 'node_lost', outcomeUnknown: false },
  });
  await eventOf(journey, submissionId, 'submission.failed');
  await expectMoney(journey, { balance: 5_000, held: 0 });
  expect(endingEvents(journey, submissionId)).toHaveLength(1);
}

test('FLUSHALL with the hold committed and nothing sent: it is still dispatched', async () => {
  const journey = await strikeAt('gateway', 'hold.committed', flush);
  await expectSubmitted(journey, await journey.submissionId());
});

test('kill -9 of the gateway with the hold committed and nothing sent: the hold is released and the key is free', async () => {
  const journey = await strikeAt('gateway', 'hold.committed', kill);
  await expect(journey.creation).rejects.toThrow('No complete answer arrived.');
  expect(await journey.client.balance()).toMatchObject({ held: 200 });
  await journey.stack.advanceClock(6_001);
  await waitUntil(async () => (await journey.client.balance()).held === 0);
  await expectMoney(journey, { balance: 5_000, held: 0 });
  const again = await journey.client.submit(application('crash'));
  expect(again.idempotent).toBeUndefined();
  await expectSubmitted(journey, again.submissionId);
});

test('kill -9 of the gateway with the hold committed: the key retried at another one waits and gets the same answer', async () => {
  const journey = await newJourney();
  const { stack, tenant, client } = journey;
  await stack.armFailpoint('gateway', 'hold.committed');
  const creation = client.submit(application('crash'));
  creation.catch(() => {});
  await stack.failpointReached('gateway', 'hold.committed');
  await stack.kill('gateway', 0);
  const other = clientOf(tenant, stack.gatewayUrls[1] ?? '');
  const retried = await refusal(other.submit(application('crash')));
  expect(retried).toMatchObject({ status: 503, code: 'dispatch_unavailable' });
  await stack.restart('gateway', 0);
  await expectMoney(journey, { balance: 5_000, held: 0 });
});

test('FLUSHALL with `dispatched` committed and `assign` not sent: it runs once', async () => {
  const journey = await strikeAt('dispatcher', 'dispatched.committed', flush);
  await expectSubmitted(journey, await journey.submissionId());
});

test('kill -9 of the dispatcher with `dispatched` committed and `assign` not sent: it is lost and never offered again', async () => {
  const journey = await strikeAt('dispatcher', 'dispatched.committed', kill);
  await expectLost(journey, await journey.submissionId());
});

test('FLUSHALL with `running` committed and `begin` not sent: it runs once', async () => {
  const journey = await strikeAt('dispatcher', 'running.committed', flush);
  await expectSubmitted(journey, await journey.submissionId());
});

test('kill -9 of the dispatcher with `running` committed and `begin` not sent: the node asks again and runs once', async () => {
  const journey = await strikeAt('dispatcher', 'running.committed', kill);
  await expectSubmitted(journey, await journey.submissionId());
});

for (const fault of [flush, kill]) {
  test(`${fault.name} with the outcome stored and not acknowledged: it settles once`, async () => {
    const journey = await strikeAt('dispatcher', 'outcome.stored', fault);
    await expectSubmitted(journey, await journey.submissionId());
  });

  test(`${fault.name} with the settlement committed and nothing enqueued: the event arrives`, async () => {
    const journey = await strikeAt('settlement', 'settled.committed', fault);
    await expectSubmitted(journey, await journey.submissionId());
  });
}

test('FLUSHALL with the webhook sent and not recorded: it is recorded and not sent again', async () => {
  const journey = await strikeAt('webhooks', 'webhook.sent', flush);
  await expectSubmitted(journey, await journey.submissionId());
  await waitUntil(async () => {
    const [row] = await journey.stack.query(
      'SELECT status FROM deliveries ORDER BY id DESC LIMIT 1',
    );
    return row?.['status'] === 'delivered';
  });
  expect(journey.receiver.received).toHaveLength(1);
});

test('kill -9 of the deliverer with the webhook sent and not recorded: the event arrives again under the same id', async () => {
  const journey = await strikeAt('webhooks', 'webhook.sent', kill);
  await journey.stack.advanceClock(31_000);
  const second = await journey.receiver.waitFor(({ attempt }) => attempt === 2);
  expect(second.deliveryId).toBe(journey.receiver.received[0]?.deliveryId);
  expect(second.body).toBe(journey.receiver.received[0]?.body);
  await expectSubmitted(journey, await journey.submissionId());
});
