import type { Socket } from 'node:net';
import { fromWireId } from '@svc/domain';
import { createSealer, openKeyring } from '@svc/signing';
import {
  createWebhookReceiver,
  type ReceivedWebhook,
  type ScriptedOutcome,
  testMasterKey,
  verifyWebhook,
  waitUntil,
  type WebhookAnswer,
  type WebhookReceiver,
} from '@svc/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { writeDeliveries } from '../support/deliveries.ts';
import { rawEndpoint, notifiedTenants } from '../support/notified-tenants.ts';
import { startWholeStack, type WholeStack } from '../support/whole-stack.ts';

/**
 * Webhooks as a tenant sees them, with the default retry schedule (CONTRACT 5 and 6). The tests
 * advance the database's clock, because it decides when an attempt is due.
 */

let whole: WholeStack;
let outcome: () => ScriptedOutcome | undefined;
const completes = () => ({ completed: { confirmationId: 'GH-1' }, usage: { actions: 11 } });

beforeAll(async () => {
  whole = await startWholeStack({
    webhooks: 2,
    pilot: { outcome: () => outcome() },
  });
});
afterAll(() => whole.close());
beforeEach(() => {
  outcome = completes;
});

const { ask, notifiedTenant, sendTest, submit, recorded } = notifiedTenants(() => whole);

const eventsOf = (receiver: WebhookReceiver, type: string) =>
  receiver.received.filter(({ event }) => event.type === type);

const arrived = (receiver: WebhookReceiver, type: string): Promise<ReceivedWebhook> =>
  receiver.waitFor(({ event }) => event.type === type, { timeoutMs: 20_000 });

const noContent = 'HTTP/1.1 204 No Content\r\n\r\n';

/** The seconds from each attempt to the next one by the default schedule, without jitter. */
const intervals = [5, 60, 300, 900, 2_400, 7_200, 18_000];

describe('events', () => {
  test("a completed submission's event has its figures and a signature", async () => {
    const { tenant, receiver } = await notifiedTenant();
    const id = await submit(tenant, 'completed');
    const webhook = await arrived(receiver, 'submission.completed');
    verifyWebhook(webhook, tenant.webhookSecret);
    const { body } = await ask(tenant, 'GET', `/v1/submissions/${id}`);
    expect(webhook.event).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'submission.completed',
      timestamp: body['finishedAt'],
      data: {
        submissionId: id,
        jobType: 'ats.application',
        tier: 'standard',
        status: 'submitted',
        actualCredits: body['actualCredits'],
        refundedCredits: body['refundedCredits'],
      },
    });
    expect(webhook.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringContaining('svc-webhooks'),
      'webhook-id': webhook.deliveryId,
      'x-svc-delivery': webhook.deliveryId,
      'x-svc-attempt': '1',
    });
  });

  test("a failed submission's event has the reason and a full refund", async () => {
    const { tenant, receiver } = await notifiedTenant();
    outcome = () => ({ failed: { code: 'captcha', message: 'traffic lights' } });
    const id = await submit(tenant, 'failed');
    const webhook = await arrived(receiver, 'submission.failed');
    verifyWebhook(webhook, tenant.webhookSecret);
    expect(webhook.event.data).toEqual({
      submissionId: id,
      jobType: 'ats.application',
      tier: 'standard',
      status: 'failed',
      actualCredits: 0,
      refundedCredits: 200,
      failure: {
        code: 'captcha',
        message: 'traffic lights',
        retriable: false,
        outcomeUnknown: false,
      },
    });
  });

  test("a cancelled submission's event names who cancelled it", async () => {
    const { tenant, receiver } = await notifiedTenant();
    outcome = () => undefined;
    const id = await submit(tenant, 'cancelled');
    const cancelled = await ask(tenant, 'POST', `/v1/submissions/${id}/cancel`);
    expect(cancelled.status).toBe(200);
    const webhook = await arrived(receiver, 'submission.cancelled');
    verifyWebhook(webhook, tenant.webhookSecret);
    const { body } = await ask(tenant, 'GET', `/v1/submissions/${id}`);
    expect(webhook.event.data).toEqual({
      submissionId: id,
      jobType: 'ats.application',
      tier: 'standard',
      status: 'cancelled',
      actualCredits: body['actualCredits'],
      refundedCredits: body['refundedCredits'],
      by: 'tenant',
    });
  });

  test('a charge that takes the balance below the threshold sends one low-balance event', async () => {
    const { tenant, receiver } = await notifiedTenant({ grantCredits: 1_010 });
    await submit(tenant, 'low 1');
    await submit(tenant, 'low 2');
    const webhook = await arrived(receiver, 'credits.low_balance');
    verifyWebhook(webhook, tenant.webhookSecret);
    const { balance, available, held, threshold } = webhook.event.data;
    expect(threshold).toBe(1_000);
    expect(Number(balance)).toBeLessThan(1_000);
    expect(Number(available)).toBe(Number(balance) - Number(held));
    await waitUntil(() => eventsOf(receiver, 'submission.completed').length === 2);
    expect(eventsOf(receiver, 'credits.low_balance')).toHaveLength(1);
  });
});

describe('a failed attempt is retried under the same id with the same bytes', () => {
  test.each<[string, WebhookAnswer, object]>([
    ['500', { status: 500, body: 'no' }, { statusCode: 500, error: null, response: 'no' }],
    [
      'a redirect, which is not followed',
      { status: 307, headers: { location: '/elsewhere' } },
      { statusCode: 307, error: null },
    ],
    ['a cut connection', 'cut', { statusCode: null, error: expect.any(String) }],
  ])('after %s', async (_name, answer, attempt) => {
    const { tenant, receiver } = await notifiedTenant();
    receiver.answerWith(({ attempt: number }) => (number === 1 ? answer : { status: 200 }));
    const id = await sendTest(tenant);
    const first = await recorded(tenant, id, 1);
    expect(first).toMatchObject({ status: 'pending', attempts: [{ number: 1, ...attempt }] });
    await whole.stack.advanceClock(5_500);
    expect((await recorded(tenant, id, 2)).status).toBe('delivered');
    const made = receiver.received.map((webhook) => [webhook.deliveryId, webhook.attempt]);
    expect(made).toEqual([
      [id, 1],
      [id, 2],
    ]);
    expect(receiver.received[1]?.body).toBe(receiver.received[0]?.body);
    expect(new Set(receiver.received.map(({ path }) => path))).toEqual(new Set(['/']));
    for (const webhook of receiver.received) verifyWebhook(webhook, tenant.webhookSecret);
  });

  test.each<[string, (socket: Socket) => void]>([
    ['garbage', (socket) => void socket.end('garbage\r\n\r\n')],
    ['a reset', (socket) => void socket.resetAndDestroy()],
    [
      'half an answer',
      (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nha'),
    ],
  ])('after %s', async (_name, spoil) => {
    const endpoint = await rawEndpoint((socket, count) => {
      if (count === 1) spoil(socket);
      else socket.end(noContent);
    });
    const tenant = await whole.tenant({ webhookUrl: endpoint.url });
    const id = await sendTest(tenant);
    const { attempts } = await recorded(tenant, id, 1);
    expect(attempts).toMatchObject([{ number: 1, statusCode: null, error: expect.any(String) }]);
    await whole.stack.advanceClock(5_500);
    expect((await recorded(tenant, id, 2)).status).toBe('delivered');
    const ids = endpoint.requests.map((text) => /x-svc-delivery: (\S+)/.exec(text)?.[1]);
    expect(ids).toEqual([id, id]);
  });

  test('after silence, and after an answer that drips, for 15 s', async () => {
    const silent = await rawEndpoint(() => {});
    const dripping = await rawEndpoint((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n');
      const timer = setInterval(() => socket.write('x'), 200);
      socket.on('close', () => clearInterval(timer));
    });
    const started = await Promise.all(
      [silent, dripping].map(async ({ url }) => {
        const tenant = await whole.tenant({ webhookUrl: url });
        return { tenant, id: await sendTest(tenant) };
      }),
    );
    for (const { tenant, id } of started) {
      const { status, attempts } = await recorded(tenant, id, 1);
      expect(status).toBe('pending');
      expect(attempts).toMatchObject([
        { number: 1, statusCode: null, error: 'request: no complete response within 15000 ms' },
      ]);
      expect(attempts[0]?.durationMs).toBeGreaterThanOrEqual(14_900);
      expect(attempts[0]?.durationMs).toBeLessThan(20_000);
    }
  });
});

describe('the schedule', () => {
  test('eight attempts over eight hours, then exhausted; a redelivery starts a new round under the same id', async () => {
    const { tenant, receiver } = await notifiedTenant();
    receiver.answerWith(() => ({ status: 503 }));
    const id = await sendTest(tenant);
    for (const [index, seconds] of intervals.entries()) {
      const { nextAttemptAt, attempts } = await recorded(tenant, id, index + 1);
      const madeAt = Date.parse(attempts[index]?.at ?? '');
      const waited = Date.parse(nextAttemptAt ?? '') - madeAt - (attempts[index]?.durationMs ?? 0);
      expect(waited).toBeGreaterThanOrEqual(seconds * 900 - 5);
      // Claiming and recording take some time in addition to the interval.
      expect(waited).toBeLessThanOrEqual(seconds * 1_100 + 1_500);
      await whole.stack.advanceClock(seconds * 1_100 + 1_500);
    }
    const exhausted = await recorded(tenant, id, 8);
    expect(exhausted).toMatchObject({ status: 'exhausted', nextAttemptAt: null });
    await whole.stack.advanceClock(80 * 3_600_000);
    receiver.answerWith(() => ({ status: 200 }));
    const again = await ask(tenant, 'POST', `/v1/webhooks/deliveries/${id}/redeliver`);
    expect([again.status, again.body]).toEqual([202, { deliveryId: id }]);
    expect(await recorded(tenant, id, 1)).toMatchObject({
      status: 'delivered',
      attempts: [{ number: 1, statusCode: 200 }],
    });
    expect(receiver.received.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 1]);
    expect(new Set(receiver.received.map(({ deliveryId }) => deliveryId))).toEqual(new Set([id]));
  });

  test('Retry-After of a 429 delays the next attempt, to at most twice its interval', async () => {
    const waits = await Promise.all(
      ['7', '3600'].map(async (retryAfter) => {
        const { tenant, receiver } = await notifiedTenant();
        receiver.answerWith(() => ({ status: 429, headers: { 'retry-after': retryAfter } }));
        const { nextAttemptAt, attempts } = await recorded(tenant, await sendTest(tenant), 1);
        return Date.parse(nextAttemptAt ?? '') - Date.parse(attempts[0]?.at ?? '');
      }),
    );
    expect(waits[0]).toBeGreaterThanOrEqual(7_000);
    expect(waits[0]).toBeLessThan(9_000);
    expect(waits[1]).toBeGreaterThanOrEqual(10_000);
    expect(waits[1]).toBeLessThan(12_000);
  });

  test('410 disables the URL, the settings give the reason, and pending deliveries are dropped', async () => {
    const { tenant, receiver } = await notifiedTenant();
    receiver.answerWith(() => ({ status: 500 }));
    const waiting = await sendTest(tenant);
    await recorded(tenant, waiting, 1);
    receiver.answerWith(() => ({ status: 410 }));
    await submit(tenant, 'gone');
    const settings = await waitUntil(async () => {
      const { body } = await ask(tenant, 'GET', '/v1/settings');
      return body['webhookDisabled'] !== null && body;
    });
    expect(settings).toMatchObject({
      webhookUrl: receiver.url,
      webhookDisabled: { at: expect.any(String), reason: 'the endpoint answered 410 Gone' },
    });
    const { body } = await ask(tenant, 'GET', '/v1/webhooks/deliveries?status=dropped');
    expect(body['data']).toHaveLength(2);
    const refused = await ask(tenant, 'POST', '/v1/webhooks/test');
    expect([refused.status, refused.body['code']]).toEqual([409, 'webhook_url_missing']);
    const withoutUrl = await submit(tenant, 'without a URL');
    await waitUntil(async () => {
      const { body: record } = await ask(tenant, 'GET', `/v1/submissions/${withoutUrl}`);
      return record['status'] === 'submitted';
    });
    receiver.answerWith(() => ({ status: 200 }));
    await ask(tenant, 'PATCH', '/v1/settings', { webhookUrl: receiver.url });
    const withUrl = await submit(tenant, 'with a URL');
    await receiver.waitFor(({ event }) => event.data['submissionId'] === withUrl);
    expect(receiver.received).toHaveLength(3);
  });
});

test('during the overlap of a rotation there are two signatures, and either secret verifies', async () => {
  const { tenant, receiver } = await notifiedTenant();
  const webhookSecret = await whole.rotateWebhookSecret(tenant);
  await sendTest(tenant);
  const webhook = await arrived(receiver, 'webhook.test');
  expect(webhook.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  verifyWebhook(webhook, tenant.webhookSecret);
  verifyWebhook(webhook, webhookSecret);
  await whole.stack.advanceClock(25 * 3_600_000);
  await sendTest(tenant);
  const later = await receiver.waitFor(
    ({ deliveryId, event }) => event.type === 'webhook.test' && deliveryId !== webhook.deliveryId,
  );
  expect(later.headers['webhook-signature']?.split(' ')).toHaveLength(1);
  verifyWebhook(later, webhookSecret);
  expect(() => verifyWebhook(later, tenant.webhookSecret)).toThrow('No matching signature');
});

test('events from a time without a URL are never sent', async () => {
  const receiver = await createWebhookReceiver();
  onTestFinished(() => receiver.close());
  const tenant = await whole.tenant({});
  const early = await submit(tenant, 'early');
  await waitUntil(async () => {
    const { body } = await ask(tenant, 'GET', `/v1/submissions/${early}`);
    return body['status'] === 'submitted';
  });
  await ask(tenant, 'PATCH', '/v1/settings', { webhookUrl: receiver.url });
  const late = await submit(tenant, 'late');
  await receiver.waitFor(({ event }) => event.data['submissionId'] === late);
  expect(receiver.received.map(({ event }) => event.data['submissionId'])).toEqual([late]);
});

test('two deliverers together make no attempt twice', async () => {
  const { tenant, receiver } = await notifiedTenant();
  const uuid = fromWireId('tnt', tenant.tenantId) ?? '';
  receiver.answerWith(({ attempt }) => ({ status: attempt === 1 ? 500 : 200 }));
  const sealer = createSealer(openKeyring(testMasterKey()));
  const { query } = whole.stack;
  const count = 300;
  await writeDeliveries({ sealer, query }, [uuid], count);
  const seen = (attempt: number) => receiver.received.filter((one) => one.attempt === attempt);
  await waitUntil(() => seen(1).length === count, { timeoutMs: 30_000 });
  await waitUntil(async () => (await claimedOf(uuid)) === 0);
  await whole.stack.advanceClock(5_500);
  await waitUntil(() => seen(2).length === count, { timeoutMs: 30_000 });
  expect(new Set(seen(1).map(({ deliveryId }) => deliveryId)).size).toBe(count);
  expect(new Set(seen(2).map(({ deliveryId }) => deliveryId)).size).toBe(count);
  expect(receiver.received).toHaveLength(2 * count);
});

async function claimedOf(tenantId: string): Promise<number> {
  const rows = await whole.stack.query(
    `SELECT 1 FROM delivery_attempts a JOIN deliveries d ON d.id = a.delivery_id
     WHERE d.tenant_id = $1 AND a.recorded_at IS NULL`,
    [tenantId],
  );
  return rows.length;
}

test('a tenant from signup gets a limited number of attempts an hour', async () => {
  const { receiver } = await notifiedTenant();
  const body = { name: 'Passer-by', webhookUrl: receiver.url };
  const signedUp = await whole.ask({ method: 'POST', target: '/signup', body });
  expect(signedUp.status).toBe(201);
  const caps = await whole.stack.query('SELECT attempts_per_hour FROM webhook_caps');
  expect(caps).toEqual([{ attempts_per_hour: 5_000 }]);
});
