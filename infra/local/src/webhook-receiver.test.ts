import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createWebhookReceiver, verifyWebhook, type WebhookReceiver } from './webhook-receiver.ts';

const secret = `whsec_${randomBytes(24).toString('base64')}`;
const event = {
  id: 'evt_1',
  type: 'webhook.test',
  timestamp: '2026-11-18T11:06:39.500Z',
  data: {},
};

let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await createWebhookReceiver();
});
afterEach(() => receiver.close());

async function deliver(
  deliveryId: string,
  { sentAt = new Date(), signedWith = secret } = {},
): Promise<Response> {
  const body = JSON.stringify(event);
  return fetch(receiver.url, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-svc-delivery': deliveryId,
      'x-svc-attempt': '2',
      'webhook-id': deliveryId,
      'webhook-timestamp': `${Math.floor(sentAt.getTime() / 1_000)}`,
      'webhook-signature': new Webhook(signedWith).sign(deliveryId, sentAt, body),
    },
  });
}

it('keeps each attempt unchanged, and finds past and future ones', async () => {
  await deliver('dlv_past');
  const past = await receiver.waitFor(({ deliveryId }) => deliveryId === 'dlv_past');
  expect(past).toMatchObject({ attempt: 2, event, body: JSON.stringify(event) });
  const later = receiver.waitFor(({ deliveryId }) => deliveryId === 'dlv_later');
  await deliver('dlv_between');
  await deliver('dlv_later');
  expect((await later).deliveryId).toBe('dlv_later');
  expect(receiver.received).toHaveLength(3);
});

it('reports that no matching webhook arrived in time', async () => {
  await expect(receiver.waitFor(() => true, { timeoutMs: 20 })).rejects.toThrow(
    'no matching webhook arrived within 20 ms',
  );
});

it('answers with a status, or cuts the connection, as the test sets it', async () => {
  expect((await deliver('dlv_1')).status).toBe(204);
  receiver.answerWith(() => ({ status: 503, headers: { 'retry-after': '7' }, body: 'later' }));
  const refused = await deliver('dlv_2');
  expect([refused.status, refused.headers.get('retry-after')]).toStrictEqual([503, '7']);
  expect(await refused.text()).toBe('later');
  receiver.answerWith(() => 'cut');
  await expect(deliver('dlv_3')).rejects.toThrow('fetch failed');
});

it('refuses a webhook that was signed with another secret', async () => {
  await deliver('dlv_mine');
  await deliver('dlv_other', { signedWith: `whsec_${randomBytes(24).toString('base64')}` });
  const [mine, other] = receiver.received;
  if (mine === undefined || other === undefined) throw new Error('no webhook arrived');
  expect(() => verifyWebhook(mine, secret)).not.toThrow();
  expect(() => verifyWebhook(other, secret)).toThrow('No matching signature found');
  expect(() => verifyWebhook(other, secret, { anyTime: true })).toThrow('no signature');
});

it('verifies webhooks with old timestamps only with anyTime', async () => {
  await deliver('dlv_old', { sentAt: new Date(Date.now() - 3_600_000) });
  const [old] = receiver.received;
  if (old === undefined) throw new Error('no webhook arrived');
  expect(() => verifyWebhook(old, secret)).toThrow('too old');
  expect(() => verifyWebhook(old, secret, { anyTime: true })).not.toThrow();
});
