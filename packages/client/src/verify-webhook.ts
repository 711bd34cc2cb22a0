import { WebhookVerificationError } from './errors.ts';
import { encoder, hmacKey } from './request-signature.ts';
import type { WebhookEvent } from './types.ts';

const toleranceSecondsDefault = 300;
const signaturesMax = 16;
const maxBytesDefault = 1024 * 1024;

/** The headers of a request: a `Headers` object or the headers object of Node's http server. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifiedWebhook {
  /**
   * The id of the delivery, which is the same in every attempt. Before you act, check that you have
   * not handled this id already.
   */
  readonly deliveryId: string;
  readonly event: WebhookEvent;
}

function isFetchHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers['get'] === 'function';
}

function readHeader(headers: WebhookHeaders, suffix: string): string {
  const name = `webhook-${suffix}`;
  const value = isFetchHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value !== 'string' || !value) {
    throw new WebhookVerificationError(`The header ${name} is missing.`);
  }
  return value;
}

type Bytes = Uint8Array<ArrayBuffer>;

function fromBase64(text: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/**
 * Compares signatures with `crypto.subtle.verify`, because it takes constant time. Throws if the
 * secret is malformed.
 */
async function isSignedWith(
  secret: string,
  content: Bytes,
  signatures: readonly Bytes[],
): Promise<boolean> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''));
  // With an empty key, anyone could sign.
  if (!bytes?.length) {
    throw new WebhookVerificationError(
      'The webhook secret is malformed. Pass the whole secret: whsec_….',
    );
  }
  const key = await hmacKey(bytes);
  for (const signature of signatures) {
    if (await crypto.subtle.verify('HMAC', key, signature, content)) return true;
  }
  return false;
}

/**
 * Returns the bytes of the body. Refuses a body over `maxBytes` before it copies the body.
 */
function bytesOf(body: string | Uint8Array, maxBytes: number): Uint8Array {
  // A parsed body may have any `length`.
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new WebhookVerificationError(
      'The body is not a string or Uint8Array. Pass the raw body.',
    );
  }
  // Each character of a string has at least one byte in UTF-8.
  if (body.length <= maxBytes) {
    const bytes = typeof body === 'string' ? encoder.encode(body) : body;
    if (bytes.length <= maxBytes) return bytes;
  }
  throw new WebhookVerificationError(`The body is larger than maxBytes (${maxBytes} bytes).`);
}

function joined(first: Uint8Array, second: Uint8Array): Bytes {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

/**
 * Verifies a webhook (Standard Webhooks v1). Rejects with `WebhookVerificationError` if the webhook
 * cannot be trusted, if `secret` is malformed, or if the body is not JSON.
 */
export async function verifyWebhook(webhook: {
  /**
   * The webhook secret `whsec_…`, not the secret that signs requests. During the overlap of a
   * rotation: the old secret, the new one or both.
   */
  readonly secret: string | readonly string[];
  readonly headers: WebhookHeaders;
  /** The bytes or the text as received, before any parsing. */
  readonly body: string | Uint8Array;
  /** The most bytes of the body. A larger one is refused. Default: 1,048,576 (1 MiB). */
  readonly maxBytes?: number;
  /** The most seconds by which the timestamp may differ from `now`. Default: 300. */
  readonly toleranceSeconds?: number;
  /** Returns the current time in milliseconds since 1970. The default is `Date.now`. */
  readonly now?: () => number;
}): Promise<VerifiedWebhook> {
  const { secret, headers, body, maxBytes = maxBytesDefault } = webhook;
  const { toleranceSeconds = toleranceSecondsDefault, now = Date.now } = webhook;
  const deliveryId = readHeader(headers, 'id');
  const timestamp = readHeader(headers, 'timestamp');
  const signatures = readHeader(headers, 'signature')
    .split(' ', signaturesMax)
    .flatMap((value) => (value.startsWith('v1,') && fromBase64(value.slice(3))) || []);
  const ageSeconds = Math.abs(Math.floor(now() / 1000) - Number(timestamp));
  // If the timestamp is not a number, `ageSeconds` is NaN. This condition refuses NaN, too.
  if (!(ageSeconds <= toleranceSeconds)) {
    throw new WebhookVerificationError(
      'webhook-timestamp is malformed, too old or too new. Check your clock.',
    );
  }
  const bytes = bytesOf(body, maxBytes);
  const content = joined(encoder.encode(`${deliveryId}.${timestamp}.`), bytes);
  for (const candidate of typeof secret === 'string' ? [secret] : secret) {
    if (await isSignedWith(candidate, content, signatures)) {
      return { deliveryId, event: parseEvent(bytes) };
    }
  }
  throw new WebhookVerificationError(
    'No signature of the webhook matches. Check the secret, and pass the body as received.',
  );
}

function parseEvent(body: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch (cause) {
    throw new WebhookVerificationError('The body is not JSON.', { cause });
  }
}
