import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { WebhookVerificationError } from './errors.ts';
import { verifyWebhook, type WebhookHeaders } from './verify-webhook.ts';

interface WebhookVector {
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const vector: WebhookVector = JSON.parse(
  readFileSync(new URL('../../signing/vectors/webhook-signing.json', import.meta.url), 'utf8'),
);
const sentAtMs = 1_795_000_000_000;
const otherSecret = 'whsec_b3RoZXI=';

function verify(changes: Partial<Parameters<typeof verifyWebhook>[0]> = {}) {
  return verifyWebhook({ ...vector, now: () => sentAtMs, ...changes });
}

describe('the vector', () => {
  test('is verified and returns its event and the delivery id', async () => {
    const verified = await verify();
    expect(verified.deliveryId).toBe('dlv_01kajh8z2wf5xav9c3q7m4n6rt');
    expect(verified.event).toEqual(JSON.parse(vector.body));
    if (verified.event.type !== 'submission.completed') throw new Error('unexpected type of event');
    expect(verified.event.data.actualCredits).toBe(41.25);
  });

  test.each<[string, WebhookHeaders]>([
    ['of fetch', new Headers(vector.headers)],
    ['in whatever case', { 'X-Other': undefined, ...upperCased(vector.headers) }],
  ])('is verified from headers %s', async (_name, headers) => {
    expect((await verify({ headers })).event.type).toBe('submission.completed');
  });

  test('is verified if the body is given as bytes', async () => {
    const body = new TextEncoder().encode(vector.body);
    expect((await verify({ body })).event.type).toBe('submission.completed');
  });
});

function upperCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  );
}

describe('a rotation', () => {
  test('works with the old and the new secret, for sender and receiver', async () => {
    expect((await verify({ secret: [otherSecret, vector.secret] })).deliveryId).toMatch(/^dlv_/);
    const signature = `v1,${'A'.repeat(43)}= ${vector.headers['webhook-signature']}`;
    const headers = { ...vector.headers, 'webhook-signature': signature };
    expect((await verify({ headers })).deliveryId).toMatch(/^dlv_/);
  });
});

describe('an untrusted webhook', () => {
  const { 'webhook-signature': signature = '', ...unsigned } = vector.headers;

  test.each<[string, Partial<Parameters<typeof verifyWebhook>[0]>]>([
    ['another secret', { secret: otherSecret }],
    ['an empty secret', { secret: 'whsec_' }],
    ['no secret', { secret: [] }],
    ['an altered body', { body: vector.body.replace('41.25', '1.25') }],
    ['another delivery', { headers: { ...vector.headers, 'webhook-id': 'dlv_x' } }],
    ['another time', { headers: { ...vector.headers, 'webhook-timestamp': '1795000001' } }],
    ['a malformed time', { headers: { ...vector.headers, 'webhook-timestamp': 'now' } }],
    ['no signature', { headers: unsigned }],
    ['an empty signature', { headers: { ...unsigned, 'webhook-signature': 'v1,' } }],
    ['a truncated signature', { headers: { ...unsigned, 'webhook-signature': 'v1,cZ0T' } }],
    [
      'another version',
      { headers: { ...unsigned, 'webhook-signature': signature.replace('v1', 'v2') } },
    ],
    ['a header twice', { headers: { ...unsigned, 'webhook-signature': [signature, signature] } }],
    ['one sent too long ago', { now: () => sentAtMs + 301_000 }],
    ['one from the future', { now: () => sentAtMs - 301_000 }],
    ['one older than the tolerance', { now: () => sentAtMs + 11_000, toleranceSeconds: 10 }],
  ])('with %s is refused', async (_name, changes) => {
    await expect(verify(changes)).rejects.toThrow(WebhookVerificationError);
  });

  test.each<[string, string | Uint8Array]>([
    ['bytes', new Uint8Array(50_000_000)],
    ['text', ' '.repeat(50_000_000)],
    ['text that is short in characters', '€'.repeat(400_000)],
  ])('with too large a body of %s is refused before it is copied', async (_name, body) => {
    await expect(verify({ body })).rejects.toThrow('larger than maxBytes (1048576 bytes)');
  });

  test('is refused above the given maxBytes, and verified at it', async () => {
    const maxBytes = Buffer.byteLength(vector.body);
    expect((await verify({ maxBytes })).deliveryId).toMatch(/^dlv_/);
    await expect(verify({ maxBytes: maxBytes - 1 })).rejects.toThrow('larger than maxBytes');
  });

  test('is refused if its body was parsed', async () => {
    const body = JSON.parse('{"id":"evt_1","length":1000000000}');
    await expect(verify({ body })).rejects.toThrow('Pass the raw body');
  });

  test('is refused if its body is not JSON, even with a valid signature', async () => {
    const key = Buffer.from('b3RoZXI=', 'base64');
    const content = 'dlv_1.1795000000.not json';
    const headers = {
      'webhook-id': 'dlv_1',
      'webhook-timestamp': '1795000000',
      'webhook-signature': `v1,${createHmac('sha256', key).update(content).digest('base64')}`,
    };
    await expect(verify({ secret: otherSecret, headers, body: 'not json' })).rejects.toThrow(
      'not JSON',
    );
  });
});
