import type { Client } from '../client-methods.ts';
import { createClient } from '../client.ts';
import { encoder, hmacKey } from '../request-signature.ts';
import { CommandError } from './failure.ts';

export interface CommandContext {
  readonly client: Client;
  readonly tenantId: string;
  /** The secret that signs forwarded events, `whsec_…`. */
  readonly webhookSecret: string;
  readonly fetch: typeof globalThis.fetch;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Rejects if the signal aborts. */
  readonly pause: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  readonly write: (line: string) => void;
  readonly isJson: boolean;
  /** The folder in which `listen --name` keeps its cursors. */
  readonly stateDir: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the credentials from environment variables. Throws `CommandError` if a required variable is
 * not set, or if the base URL or the webhook secret is malformed.
 */
export async function readCredentials(
  environment: Environment,
): Promise<Pick<CommandContext, 'client' | 'tenantId' | 'webhookSecret'>> {
  const required = (name: string): string => {
    const value = environment[name];
    if (value) return value;
    throw new CommandError(`${name} is not set. Set this environment variable (see --help).`, 2);
  };
  const baseUrl = required('SVC_BASE_URL');
  const tenantId = required('SVC_TENANT_ID');
  const secret = required('SVC_HMAC_SECRET');
  if (!/^https?:$/.test(urlOf(baseUrl)?.protocol ?? '')) {
    throw new CommandError('SVC_BASE_URL must be an address like https://api.example.com.', 2);
  }
  const keyId = environment['SVC_KEY_ID'];
  const webhookSecret = environment['SVC_WEBHOOK_SECRET'] || (await derivedSecret(secret));
  if (!/^whsec_([A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2,4}={0,2}$/.test(webhookSecret)) {
    throw new CommandError(
      'SVC_WEBHOOK_SECRET is malformed. Set the whole secret, which begins with whsec_.',
      2,
    );
  }
  return {
    client: createClient({ baseUrl, tenantId, secret, ...(keyId ? { keyId } : {}) }),
    tenantId,
    webhookSecret,
  };
}

export function urlOf(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/**
 * Derives the secret that signs forwarded events from the secret that signs requests (decision 37).
 */
async function derivedSecret(secret: string): Promise<string> {
  const key = await hmacKey(encoder.encode(secret));
  return `whsec_${base64(await crypto.subtle.sign('HMAC', key, encoder.encode('svc listen')))}`;
}

export function base64(bytes: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}

/**
 * Replaces each control character, line break and character that changes the direction of text by a
 * space. Untrusted text is then safe to print on one line.
 */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, ' ');
}
