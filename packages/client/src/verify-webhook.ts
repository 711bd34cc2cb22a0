import { createHmac, timingSafeEqual } from 'node:crypto';
import { WebhookVerificationError } from './errors.ts';
import type { WebhookEvent } from './types.ts';

const toleranceSecondsDefault = 300;
const signaturesMax = 16;

/** The headers of a request: a `Headers` object or the headers object of Node's http server. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifiedWebhook {
  /** The same for every attempt. Deduplicate by it before you act. */
  readonly deliveryId: string;
  readonly event: WebhookEvent;
}

function isFetchHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers['get'] === 'function';
}

function readHeader(headers: WebhookHeaders, name: string): string {
  const value = isFetchHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value !== 'string' || value === '') {
    throw new WebhookVerificationError(`The header ${name} is missing.`);
  }
  return value;
}

function checkTimestamp(timestamp: string, nowSeconds: number, toleranceSeconds: number): void {
  if (!/^[0-9]{1,15}$/.test(timestamp)) {
    throw new WebhookVerificationError('webhook-timestamp is not Unix time in seconds.');
  }
  if (Math.abs(Number(timestamp) - nowSeconds) > toleranceSeconds) {
    throw new WebhookVerificationError(
      'webhook-timestamp is too far from the local clock. Check that the clock is right.',
    );
  }
}

function isSignedWith(secret: string, content: Buffer, signatures: readonly Buffer[]): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  // With an empty key, anyone could sign.
  if (key.byteLength === 0)
    throw new WebhookVerificationError(
      'The webhook secret is malformed. Pass the whole secret, whsec_….',
    );
  const expected = createHmac('sha256', key).update(content).digest();
  return signatures.some(
    (signature) =>
      signature.byteLength === expected.byteLength && timingSafeEqual(signature, expected),
  );
}

/**
 * Verifies a webhook (Standard Webhooks v1) and returns its event. `body` must be the received bytes
 * before any parsing. While a rotation overlaps, either secret or both work. Throws
 * `WebhookVerificationError` if the webhook cannot be trusted.
 */
export function verifyWebhook(webhook: {
  /** The webhook secret, `whsec_…`. It is not the secret that signs requests. */
  readonly secret: string | readonly string[];
  readonly headers: WebhookHeaders;
  readonly body: string | Uint8Array;
  readonly toleranceSeconds?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}): VerifiedWebhook {
  const { secret, headers, toleranceSeconds = toleranceSecondsDefault, now = Date.now } = webhook;
  const deliveryId = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const signatures = readHeader(headers, 'webhook-signature')
    .split(' ', signaturesMax)
    .filter((value) => value.startsWith('v1,'))
    .map((value) => Buffer.from(value.slice('v1,'.length), 'base64'));
  checkTimestamp(timestamp, Math.floor(now() / 1000), toleranceSeconds);
  const body = Buffer.from(webhook.body);
  const content = Buffer.concat([Buffer.from(`${deliveryId}.${timestamp}.`), body]);
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (!secrets.some((candidate) => isSignedWith(candidate, content, signatures))) {
    throw new WebhookVerificationError(
      'No signature of the webhook matches. Check the secret, and pass the body as received.',
    );
  }
  return { deliveryId, event: parseEvent(body) };
}

function parseEvent(body: Buffer): WebhookEvent {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw new WebhookVerificationError('The body is not JSON.', { cause });
  }
}
