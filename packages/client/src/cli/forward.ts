import { answerBytesMax, readText } from '../read-text.ts';
import { encoder, hmacKey } from '../request-signature.ts';
import { withTimeLimit } from '../time-limit.ts';
import type { PolledEvent } from '../types.ts';
import { version } from '../version.ts';
import { base64, type CommandContext, plain } from './context.ts';
import { reasonOf } from './failure.ts';

/** The time limit of one request, as for a webhook (CONTRACT 6). */
const timeoutMs = 15_000;
const shownLengthMax = 200;

export interface Forwarded {
  readonly isOk: boolean;
  /** Undefined if no complete answer arrived. */
  readonly status?: number;
  /** The first `shownLengthMax` characters of the answer, or the reason why there is no answer. */
  readonly text: string;
  readonly durationMs: number;
}

function webhookOf({ deliveryId, ...event }: PolledEvent): {
  readonly deliveryId: string;
  readonly body: string;
} {
  return { deliveryId, body: JSON.stringify(event) };
}

/**
 * Posts an event with the headers of a webhook, except `traceparent` and `tracestate` (CONTRACT 6).
 * If the request fails, the result says why. Throws if the signal aborts.
 */
export async function forward(
  { fetch, now, webhookSecret }: CommandContext,
  url: URL,
  event: PolledEvent,
  attempt: number,
  signal: AbortSignal,
): Promise<Forwarded> {
  const { deliveryId, body } = webhookOf(event);
  const startMs = now();
  const timestamp = String(Math.floor(startMs / 1000));
  const headers = {
    'content-type': 'application/json',
    'user-agent': `svc-listen/${version}`,
    'x-svc-delivery': deliveryId,
    'x-svc-attempt': String(attempt),
    'webhook-id': deliveryId,
    'webhook-timestamp': timestamp,
    'webhook-signature': await signature(webhookSecret, `${deliveryId}.${timestamp}.${body}`),
  };
  try {
    const request = { method: 'POST', headers, body, redirect: 'manual' } as const;
    return await withTimeLimit(signal, timeoutMs, async (limited) => {
      const response = await fetch(url, { ...request, signal: limited });
      const answer = await readText(response, answerBytesMax);
      const text = plain(answer ?? 'The answer has more than 16 MiB.').slice(0, shownLengthMax);
      return { isOk: response.ok, status: response.status, text, durationMs: now() - startMs };
    });
  } catch (error) {
    signal.throwIfAborted();
    return { isOk: false, text: plain(reasonOf(error)), durationMs: now() - startMs };
  }
}

async function signature(secret: string, content: string): Promise<string> {
  const bytes = Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (character) =>
    character.charCodeAt(0),
  );
  const key = await hmacKey(bytes);
  return `v1,${base64(await crypto.subtle.sign('HMAC', key, encoder.encode(content)))}`;
}
