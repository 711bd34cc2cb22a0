import { createHmac } from 'node:crypto';
import { createKeyCache } from './key-objects.ts';

/**
 * Signatures of webhooks by Standard Webhooks v1 (CONTRACT 6).
 * `packages/signing/vectors/webhook-signing.json` has a test vector that another implementation
 * computed.
 */

const secretPattern = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

/**
 * The key bytes of a webhook secret. Throws if the secret is malformed, which cannot happen for a
 * secret that the service stored.
 */
function webhookKey(secret: string): Buffer {
  const encoded = secretPattern.exec(secret)?.[1];
  if (encoded === undefined || encoded === '') throw new Error('A webhook secret is malformed.');
  return Buffer.from(encoded, 'base64');
}

const keyOf = createKeyCache(webhookKey);

/**
 * The value of `webhook-signature` (CONTRACT 6): one signature per secret, separated by spaces.
 * Throws if `secrets` is empty or contains a malformed secret.
 */
export function signWebhook(webhook: {
  readonly secrets: readonly string[];
  /** The delivery's id, which is the `webhook-id` header. */
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: Uint8Array | string;
}): string {
  if (webhook.secrets.length === 0) throw new Error('A webhook needs a secret that signs it.');
  return webhook.secrets
    .map((secret) => {
      const signature = createHmac('sha256', keyOf(secret))
        .update(`${webhook.id}.${webhook.timestampSeconds}.`)
        .update(webhook.body)
        .digest('base64');
      return `v1,${signature}`;
    })
    .join(' ');
}
