import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';

/** One received attempt of a delivery (CONTRACT 6). */
export interface ReceivedWebhook {
  /** Unix ms by the receiver's clock, when the body was complete. */
  readonly receivedAtMs: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** `X-SVC-Delivery`. */
  readonly deliveryId: string;
  /** `X-SVC-Attempt`. */
  readonly attempt: number;
  readonly event: WebhookEvent;
}

export interface WebhookEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export type WebhookAnswer =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'no answer'
  | 'cut';

export type Answerer = (webhook: ReceivedWebhook) => WebhookAnswer | Promise<WebhookAnswer>;

export interface WebhookReceiver {
  readonly url: string;
  readonly port: number;
  readonly received: readonly ReceivedWebhook[];
  /** Sets the answer to later attempts. The default is 204. */
  answerWith(answerer: Answerer): void;
  /**
   * Returns the first attempt that `matches`. It may have arrived already. Throws if none arrives
   * within `timeoutMs` (10 s by default).
   */
  waitFor(
    matches: (webhook: ReceivedWebhook) => boolean,
    options?: { readonly timeoutMs?: number },
  ): Promise<ReceivedWebhook>;
  close(): Promise<void>;
}

const waitMsDefault = 10_000;

const acknowledge: Answerer = () => ({ status: 204 });

/** `port` 0 takes any free port. */
export async function createWebhookReceiver({
  host = '127.0.0.1',
  port = 0,
} = {}): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const arrivals = new EventEmitter<{ webhook: [ReceivedWebhook] }>();
  arrivals.setMaxListeners(0);
  let answerer = acknowledge;
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const webhook = await readWebhook(request);
    received.push(webhook);
    arrivals.emit('webhook', webhook);
    send(response, await answerer(webhook));
  };
  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy());
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://${host}:${address.port}/`,
    port: address.port,
    received,
    answerWith: (next) => void (answerer = next),
    async waitFor(matches, { timeoutMs = waitMsDefault } = {}) {
      const signal = AbortSignal.timeout(timeoutMs);
      for (let seen = 0; ; seen += 1) {
        if (seen === received.length) await nextArrival(arrivals, signal, timeoutMs);
        const webhook = received[seen];
        if (webhook !== undefined && matches(webhook)) return webhook;
      }
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function nextArrival(
  arrivals: EventEmitter<{ webhook: [ReceivedWebhook] }>,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<void> {
  try {
    await once(arrivals, 'webhook', { signal });
  } catch (error) {
    throw new Error(`no matching webhook arrived within ${timeoutMs} ms`, { cause: error });
  }
}

async function readWebhook(request: IncomingMessage): Promise<ReceivedWebhook> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const body = Buffer.concat(chunks).toString('utf8');
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  return {
    receivedAtMs: Date.now(),
    path: request.url ?? '/',
    headers,
    body,
    deliveryId: headers['x-svc-delivery'] ?? '',
    attempt: Number(headers['x-svc-attempt']),
    event: parseEvent(body),
  };
}

function parseEvent(body: string): WebhookEvent {
  const event: unknown = JSON.parse(body);
  if (!isEvent(event)) throw new Error('the body of the webhook is not an event');
  return event;
}

function isEvent(value: unknown): value is WebhookEvent {
  return (
    typeof value === 'object' &&
    value !== null &&
    'id' in value &&
    'type' in value &&
    'timestamp' in value &&
    'data' in value
  );
}

function send(response: ServerResponse, answer: WebhookAnswer): void {
  if (answer === 'no answer') return;
  if (answer === 'cut') {
    response.destroy();
    return;
  }
  response.writeHead(answer.status, answer.headers).end(answer.body);
}

/**
 * Throws if the signature is wrong, or if the timestamp differs from the current time by more than
 * five minutes. `anyTime` allows every timestamp.
 */
export function verifyWebhook(
  webhook: ReceivedWebhook,
  secret: string,
  { anyTime = false } = {},
): void {
  const verifier = new Webhook(secret);
  if (!anyTime) {
    verifier.verify(webhook.body, { ...webhook.headers });
    return;
  }
  const sentAt = new Date(Number(webhook.headers['webhook-timestamp']) * 1_000);
  const expected = verifier.sign(webhook.deliveryId, sentAt, webhook.body);
  const presented = (webhook.headers['webhook-signature'] ?? '').split(' ');
  if (!presented.includes(expected)) throw new Error('no signature of the webhook is valid');
}
