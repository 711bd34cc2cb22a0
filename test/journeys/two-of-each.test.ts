import { waitUntil } from '@svc/testkit';
import { expect, test } from 'vitest';
import { auditMoney } from '../support/audit.ts';
import { application, clientOf, eventOf, shareStack } from '../support/journey.ts';
import { svcOn } from '../support/svc.ts';

const sharedJourney = shareStack({
  gateways: 2,
  dispatchers: 2,
  settlements: 2,
  webhooks: 2,
  nodes: 4,
});

test('with two processes of each service every submission ends once', async () => {
  const journey = await sharedJourney(20_000);
  const { stack, tenant, receiver } = journey;
  const [one, other] = stack.gatewayUrls.map((url) => clientOf(tenant, url));
  if (one === undefined || other === undefined) throw new Error('the test needs two gateways');
  const rounds = 6;
  for (let round = 0; round < rounds; round += 1) {
    const created = await Promise.all(
      [one, other].map((client, index) =>
        client.submit(
          application(`${round}-${index}`, round % 2 === 0 ? 'sandbox.succeed' : 'sandbox.fail'),
        ),
      ),
    );
    // Each submission is read at the gateway that did not create it.
    const [first, second] = created;
    const ended = await Promise.all([
      other.waitFor(first?.submissionId ?? '', { timeoutMs: 25_000 }),
      one.waitFor(second?.submissionId ?? '', { timeoutMs: 25_000 }),
    ]);
    const [type, status] =
      round % 2 === 0
        ? (['submission.completed', 'submitted'] as const)
        : (['submission.failed', 'failed'] as const);
    expect(ended.map((submission) => submission.status)).toEqual([status, status]);
    for (const { submissionId } of created) await eventOf(journey, submissionId, type);
  }
  const events = receiver.received.filter(({ event }) => event.type.startsWith('submission.'));
  expect(new Set(events.map(({ deliveryId }) => deliveryId)).size).toBe(rounds * 2);
  expect(await auditMoney(stack.query)).toEqual([]);
});

test('a replay at another gateway, while the first request is in flight, gets the same answer', async () => {
  const { stack, tenant } = await sharedJourney();
  const clients = stack.gatewayUrls.map((url) => clientOf(tenant, url));
  const answers = await Promise.all(
    [...clients, ...clients, ...clients].map((client) => client.submit(application('together'))),
  );
  expect(new Set(answers.map(({ submissionId }) => submissionId)).size).toBe(1);
  expect(answers.filter(({ idempotent }) => idempotent !== true)).toHaveLength(1);
  const created = "SELECT id FROM submissions WHERE idempotency_key = 'together'";
  expect(await stack.query(created)).toHaveLength(1);
  expect(await auditMoney(stack.query)).toEqual([]);
});

test('a log level reaches both processes of a service and no other service', async () => {
  const { stack } = await sharedJourney();
  const svc = svcOn(stack);
  const [before] = await svc.list('log-level', 'settlement');
  expect(before).toMatchObject({ level: 'configured', applied: null, running: 2 });
  await svc.list('log-level', 'settlement', 'debug', '--for', '1m');
  const isApplied = (service: 'settlement' | 'webhooks', index: number) =>
    stack.logs(service, index).some((line) => line.includes('"process.log_level_changed"'));
  await waitUntil(() => isApplied('settlement', 0) && isApplied('settlement', 1), {
    timeoutMs: 20_000,
  });
  const [after, other] = await svc.list('log-level').then((all) => all.slice(2));
  expect(after).toMatchObject({ service: 'settlement', level: 'debug', applied: 2, running: 2 });
  expect(other).toMatchObject({ service: 'webhooks', level: 'configured', applied: null });
  expect([isApplied('webhooks', 0), isApplied('webhooks', 1)]).toEqual([false, false]);
});

// This test is the last one, because the killed processes do not start again.
test('killing one of two processes does not stop the service', async () => {
  const journey = await sharedJourney();
  const { stack, tenant } = journey;
  await Promise.all([
    stack.kill('settlement', 0),
    stack.kill('webhooks', 0),
    stack.kill('gateway', 0),
  ]);
  const client = clientOf(tenant, stack.gatewayUrls[1] ?? '');
  const { submissionId } = await client.submit(application('half'));
  await client.waitFor(submissionId, { timeoutMs: 25_000 });
  await eventOf(journey, submissionId, 'submission.completed');
  expect(await auditMoney(stack.query)).toEqual([]);
});
