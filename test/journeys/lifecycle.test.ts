import { fromWireId } from '@svc/domain';
import { createWebhookReceiver, sendSigned, waitUntil } from '@svc/testkit';
import { expect, test } from 'vitest';
import {
  application,
  clientOf,
  connectNode,
  endingEvents,
  eventOf,
  expectMoney,
  refusal,
  shareStack,
  startJourney,
} from '../support/journey.ts';

const withNodes = shareStack({ nodes: 2, env: { WEBHOOK_BACKOFF_SECONDS: '1,1,1' } });
const withoutNodes = shareStack();

test('a submission is quoted, held, dispatched, run, settled and refunded, and the tenant is notified', async () => {
  const journey = await withNodes();
  const { client } = journey;
  expect(await client.ready()).toEqual({ status: 'ready' });
  const created = await client.submit(application('first'));
  expect(created).toMatchObject({
    status: 'dispatched',
    quote: { max: 200, surge: 1 },
    balance: { after: 4_800, held: 200 },
  });
  expect(created.idempotent).toBeUndefined();
  const ended = await client.waitFor(created.submissionId, { timeoutMs: 20_000 });
  expect(ended).toMatchObject({ id: created.submissionId, status: 'submitted', failure: null });
  const { actualCredits, refundedCredits } = ended;
  if (actualCredits === null || refundedCredits === null)
    throw new Error('the submission is not settled');
  expect(actualCredits).toBeGreaterThanOrEqual(20);
  expect(Math.round((actualCredits + refundedCredits) * 1e6)).toBe(200_000_000);
  const webhook = await eventOf(journey, created.submissionId, 'submission.completed');
  expect(webhook.event.data).toEqual({
    submissionId: created.submissionId,
    jobType: 'ats.application',
    tier: 'standard',
    status: 'submitted',
    actualCredits,
    refundedCredits,
  });
  expect(webhook.attempt).toBe(1);
  await expectMoney(journey, { balance: Math.round((5_000 - actualCredits) * 1e6) / 1e6, held: 0 });
});

test('a job that fails on the node costs nothing, and the tenant gets the reason', async () => {
  const journey = await withNodes();
  const { client } = journey;
  const { submissionId } = await client.submit(application('fails', 'sandbox.fail'));
  const ended = await client.waitFor(submissionId, { timeoutMs: 20_000 });
  expect(ended).toMatchObject({
    status: 'failed',
    actualCredits: 0,
    refundedCredits: 200,
    failure: { code: 'ats_rejected', retriable: false, outcomeUnknown: false },
  });
  const webhook = await eventOf(journey, submissionId, 'submission.failed');
  expect(webhook.event.data).toMatchObject({
    status: 'failed',
    actualCredits: 0,
    refundedCredits: 200,
    failure: { code: 'ats_rejected' },
  });
  await expectMoney(journey, { balance: 5_000, held: 0 });
});

test('a submission cancelled before it begins costs nothing', async () => {
  const journey = await withoutNodes();
  const { client } = journey;
  const node = await connectNode(journey);
  const creation = client.submit(application('early'));
  const offer = await node.next('offer');
  node.send({ type: 'accept', offerId: offer.offerId });
  await node.next('assign');
  const { submissionId } = await creation;
  expect((await client.getSubmission(submissionId)).status).toBe('dispatched');
  const cancelled = await client.cancel(submissionId);
  expect(cancelled).toEqual({
    submissionId,
    status: 'cancelled',
    refund: { amount: 200, charged: 0 },
  });
  expect(await node.next('cancel')).toMatchObject({ submissionId });
  // The service orders a node to stop if the node asks to begin after the cancel.
  node.send({ type: 'start', submissionId });
  expect(await node.next('cancel')).toMatchObject({ submissionId });
  await eventOf(journey, submissionId, 'submission.cancelled');
  await expectMoney(journey, { balance: 5_000, held: 0 });
});

test('a submission cancelled mid-run pays for the node-seconds only', async () => {
  const journey = await startJourney({ nodes: 1 });
  const { client, stack } = journey;
  const { submissionId } = await client.submit(application('slow', 'sandbox.slow'));
  await waitUntil(async () => (await client.getSubmission(submissionId)).status === 'running');
  await stack.advanceClock(10_000);
  const { refund } = await client.cancel(submissionId);
  expect(refund.charged).toBeGreaterThanOrEqual(5);
  expect(refund.charged).toBeLessThan(10);
  expect(Math.round((refund.amount + refund.charged) * 1e6)).toBe(200_000_000);
  const webhook = await eventOf(journey, submissionId, 'submission.cancelled');
  expect(webhook.event.data).toMatchObject({
    status: 'cancelled',
    by: 'tenant',
    actualCredits: refund.charged,
    refundedCredits: refund.amount,
  });
  const again = await refusal(client.cancel(submissionId));
  expect(again).toMatchObject({ status: 409, code: 'terminal_state' });
  expect(again.problem).toMatchObject({ submissionId, submissionStatus: 'cancelled', refund });
  await expectMoney(journey, {
    balance: Math.round((5_000 - refund.charged) * 1e6) / 1e6,
    held: 0,
  });
  // The node stops the cancelled job, and its slot is free again.
  const next = await client.submit(application('next'));
  await client.waitFor(next.submissionId, { timeoutMs: 20_000 });
});

test('without a node a creation is refused, its hold is released and its key is free', async () => {
  const journey = await withoutNodes();
  const { client, stack, tenant } = journey;
  const error = await refusal(client.submit(application('nobody')));
  expect(error).toMatchObject({ status: 503, code: 'dispatch_unavailable' });
  expect(error.problem.retryAfterSeconds).toBeGreaterThan(0);
  await expectMoney(journey, { balance: 5_000, held: 0 });
  const states = await stack.query('SELECT state FROM submissions WHERE tenant_id = $1', [
    fromWireId('tnt', tenant.tenantId),
  ]);
  expect(states).toEqual([{ state: 'rejected' }]);
  expect(await refusal(client.submit(application('nobody')))).toMatchObject({ status: 503 });
  expect(journey.receiver.received).toEqual([]);
});

test('if every node declines, the creation is refused and the hold is released', async () => {
  const journey = await withNodes();
  const error = await refusal(journey.client.submit(application('declined', 'sandbox.decline')));
  expect(error).toMatchObject({ status: 503, code: 'dispatch_unavailable' });
  await expectMoney(journey, { balance: 5_000, held: 0 });
});

test('a balance that does not cover the worst case is refused, and the answer names the required amount', async () => {
  const journey = await withNodes(199);
  const error = await refusal(journey.client.submit(application('dear')));
  expect(error).toMatchObject({ status: 402, code: 'insufficient_credits' });
  expect(error.problem).toMatchObject({ required: 200 });
  expect(error.problem).not.toHaveProperty('balance');
  await expectMoney(journey, { balance: 199, held: 0 });
});

test('the same body under the same key gets the same answer and is charged once', async () => {
  const journey = await withNodes();
  const { client, stack, tenant } = journey;
  const first = await client.submit(application('same'));
  expect(await client.submit(application('same'))).toEqual({ ...first, idempotent: true });
  await client.waitFor(first.submissionId, { timeoutMs: 20_000 });
  expect(await client.submit(application('same'))).toEqual({ ...first, idempotent: true });
  const rows = await stack.query('SELECT id FROM submissions WHERE tenant_id = $1', [
    fromWireId('tnt', tenant.tenantId),
  ]);
  expect(rows).toHaveLength(1);
  const { actualCredits } = await client.getSubmission(first.submissionId);
  await expectMoney(journey, {
    balance: Math.round((5_000 - (actualCredits ?? 0)) * 1e6) / 1e6,
    held: 0,
  });
  await eventOf(journey, first.submissionId, 'submission.completed');
  expect(endingEvents(journey, first.submissionId)).toHaveLength(1);
});

test('another body under the same key is a conflict', async () => {
  const journey = await withNodes();
  const { client } = journey;
  await client.submit(application('key', 'sandbox.succeed'));
  const error = await refusal(client.submit(application('key', 'sandbox.fail')));
  expect(error).toMatchObject({ status: 409, code: 'idempotency_key_conflict' });
  const tier = await refusal(client.submit(application('key', 'sandbox.succeed', 'priority')));
  expect(tier).toMatchObject({ status: 409, code: 'idempotency_key_conflict' });
});

test("another tenant's submission is answered like one that does not exist", async () => {
  const { client, stack, receiver } = await withNodes();
  const { submissionId } = await client.submit(application('mine'));
  const stranger = await stack.createTenant({ webhookUrl: receiver.url });
  const other = clientOf(stranger, stack.gatewayUrl);
  for (const id of [submissionId, 'sub_01kajh8z2wf5xav9c3q7m4n6rt', 'sub_x']) {
    const read = await refusal(other.getSubmission(id));
    const cancel = await refusal(other.cancel(id));
    expect([read.status, cancel.status]).toEqual([404, 404]);
    expect({ ...read.problem, requestId: '' }).toEqual({ ...cancel.problem, requestId: '' });
  }
});

test('a request that is not signed, or signed with another secret, is refused', async () => {
  const { stack, tenant } = await withoutNodes();
  const request = { baseUrl: stack.gatewayUrl, method: 'GET', target: '/v1/credits/balance' };
  const { tenantId, hmacSecret, webhookSecret } = tenant;
  const answers = await Promise.all([
    sendSigned(request),
    sendSigned({ ...request, tenantId, secret: webhookSecret }),
    sendSigned({ ...request, tenantId, secret: hmacSecret, timestamp: 1_795_000_000 }),
    sendSigned({ ...request, tenantId, secret: hmacSecret }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 200]);
  for (const answer of answers) expect(answer.headers['x-request-id']).toBeTruthy();
  expect(answers[0]?.headers['www-authenticate']).toBe('SVC1-HMAC-SHA256');
  expect(answers[0]?.json()).toMatchObject({ status: 401, code: 'unauthenticated' });
});

test('a failed delivery is retried under the same id', async () => {
  const journey = await withNodes();
  const { client, receiver } = journey;
  receiver.answerWith(({ attempt }) => ({ status: attempt < 3 ? 500 : 204 }));
  const { submissionId } = await client.submit(application('retry', 'sandbox.fail'));
  await receiver.waitFor(({ attempt }) => attempt === 3, { timeoutMs: 20_000 });
  const attempts = receiver.received.filter(
    ({ event }) => event.data['submissionId'] === submissionId,
  );
  expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(new Set(attempts.map(({ deliveryId }) => deliveryId)).size).toBe(1);
  expect(new Set(attempts.map(({ body }) => body)).size).toBe(1);
});

test('a tenant without a URL gets no webhook, then or later', async () => {
  const { stack } = await withNodes();
  const quiet = await stack.createTenant({});
  const client = clientOf(quiet, stack.gatewayUrl);
  const { submissionId } = await client.submit(application('quiet', 'sandbox.fail'));
  await client.waitFor(submissionId, { timeoutMs: 20_000 });
  const late = await createWebhookReceiver();
  await stack.svc(['tenant', 'update', quiet.tenantId, '--webhook-url', late.url]);
  const next = await client.submit(application('with an endpoint', 'sandbox.fail'));
  await late.waitFor(({ event }) => event.data['submissionId'] === next.submissionId, {
    timeoutMs: 20_000,
  });
  expect(late.received.map(({ event }) => event.data['submissionId'])).toEqual([next.submissionId]);
  await late.close();
});
