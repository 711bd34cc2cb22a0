import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { newSecret } from './secrets.ts';
import { signWebhook } from './webhook-signature.ts';

interface WebhookVector {
  readonly secret: string;
  readonly headers: Readonly<
    Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>
  >;
  readonly body: string;
}

const vector: WebhookVector = JSON.parse(
  readFileSync(new URL('../vectors/webhook-signing.json', import.meta.url), 'utf8'),
);

test('the vector', () => {
  const signature = signWebhook({
    secrets: [vector.secret],
    id: vector.headers['webhook-id'],
    timestampSeconds: Number(vector.headers['webhook-timestamp']),
    body: vector.body,
  });
  expect(signature).toBe(vector.headers['webhook-signature']);
});

describe('a receiver with the Standard Webhooks library', () => {
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const body = '{"type":"webhook.test","data":{"name":"Ana Pérez"}}';
  const id = 'dlv_01kajh8z2wf5xav9c3q7m4n6rt';
  const oldSecret = newSecret('whsec', (bytes) => new Uint8Array(bytes).fill(1));
  const freshSecret = newSecret('whsec', (bytes) => new Uint8Array(bytes).fill(2));

  function receive(secret: string, secrets: string[], received = body): unknown {
    return new Webhook(secret).verify(received, {
      'webhook-id': id,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': signWebhook({ secrets, id, timestampSeconds, body }),
    });
  }

  test('verifies the sent body, as text or as bytes', () => {
    expect(receive(freshSecret, [freshSecret])).toEqual(JSON.parse(body));
    const text = { secrets: [freshSecret], id, timestampSeconds, body };
    const bytes = { ...text, body: new TextEncoder().encode(body) };
    expect(signWebhook(bytes)).toBe(signWebhook(text));
  });

  test('verifies with either secret while a rotation overlaps', () => {
    const secrets = [freshSecret, oldSecret];
    expect(receive(oldSecret, secrets)).toEqual(JSON.parse(body));
    expect(receive(freshSecret, secrets)).toEqual(JSON.parse(body));
  });

  test('refuses an altered body and another secret', () => {
    expect(() => receive(freshSecret, [freshSecret], body.replace('Ana', 'Eva'))).toThrow(
      'No matching signature',
    );
    expect(() => receive(oldSecret, [freshSecret])).toThrow('No matching signature');
  });
});

test.each(['', 'whsec_', 'hsk_test_abcd', 'whsec_a', 'whsec_not base64', 'whsec_ab-_'])(
  'a malformed secret signs nothing: %j',
  (secret) => {
    const webhook = { secrets: [secret], id: 'dlv_1', timestampSeconds: 1, body: '' };
    expect(() => signWebhook(webhook)).toThrow('malformed');
  },
);

test('nothing is ever sent unsigned', () => {
  const webhook = { secrets: [], id: 'dlv_1', timestampSeconds: 1, body: '' };
  expect(() => signWebhook(webhook)).toThrow('needs a secret that signs it');
});
