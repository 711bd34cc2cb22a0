import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@svc/client';
import { type ReceivedWebhook, verifyWebhook, type WebhookReceiver } from './webhook-receiver.ts';

/** One event of the demo tenant. */
interface DemoEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Says by which delivery the event arrived. */
  readonly delivery: string;
  /** Says how the sender was verified, or that it is not the service. */
  readonly verdict: string;
}

/** The way on which the events of the demo tenant arrive. */
export interface DemoEvents {
  readonly title: string;
  /** The address of the receiver, or the id of the polled endpoint. */
  readonly place: string;
  /**
   * Returns the first event that `matches`. It may have arrived already. Throws if none arrives
   * within 20 s, or if its signature is wrong.
   */
  waitFor(matches: (event: DemoEvent) => boolean): Promise<DemoEvent>;
  /** Calls `show` with each event from now on, until `close`. */
  follow(show: (event: DemoEvent) => void): void;
  close(): Promise<void>;
}

const waitMsMax = 20_000;
const pollWaitSeconds = 5;
const pollAgainMs = 1_000;
const description = 'npm start';

/** The events that the deliverer posts to `receiver`, which the caller closes. */
export function pushedEvents(receiver: WebhookReceiver, secret: string): DemoEvents {
  const eventOf = (webhook: ReceivedWebhook): DemoEvent => ({
    type: webhook.event.type,
    data: webhook.event.data,
    delivery: `delivery ${webhook.deliveryId}, attempt ${webhook.attempt}`,
    verdict: isSigned(webhook, secret)
      ? 'signature verified with the standardwebhooks library'
      : 'SIGNATURE WRONG',
  });
  return {
    title: 'Webhook',
    place: receiver.url,
    async waitFor(matches) {
      const webhook = await receiver.waitFor((one) => matches(eventOf(one)), {
        timeoutMs: waitMsMax,
      });
      verifyWebhook(webhook, secret);
      return eventOf(webhook);
    },
    follow(show) {
      receiver.answerWith((webhook) => {
        show(eventOf(webhook));
        return { status: 204 };
      });
    },
    close: () => Promise.resolve(),
  };
}

function isSigned(webhook: ReceivedWebhook, secret: string): boolean {
  try {
    verifyWebhook(webhook, secret);
    return true;
  } catch {
    return false;
  }
}

/** The events that the tenant reads from an endpoint of kind `poll` (CONTRACT 12). */
export async function polledEvents(client: Client): Promise<DemoEvents> {
  const { data } = await client.listWebhookEndpoints();
  const kept = data.find((one) => one.kind === 'poll' && one.description === description);
  const { id } = kept ?? (await client.createWebhookEndpoint({ url: null, description }));
  const closing = new AbortController();
  const { signal } = closing;
  const received: DemoEvent[] = [];
  let after: string | undefined;
  const read = async (): Promise<DemoEvent[]> => {
    const query = { waitSeconds: pollWaitSeconds, ...(after === undefined ? {} : { after }) };
    const page = await client.pollWebhookEvents(id, query, { signal });
    after = page.nextCursor;
    return page.data.map((event) => ({
      type: event.type,
      data: { ...event.data },
      delivery: `delivery ${event.deliveryId}`,
      verdict: 'read with a signed request',
    }));
  };
  let following = Promise.resolve();
  return {
    title: 'Event, read from an endpoint without a URL',
    place: `GET /v1/webhook-endpoints/${id}/events`,
    async waitFor(matches) {
      const startedMs = performance.now();
      for (;;) {
        const found = received.find(matches);
        if (found !== undefined) return found;
        if (performance.now() - startedMs > waitMsMax)
          throw new Error(`no matching event arrived within ${waitMsMax} ms`);
        received.push(...(await read()));
      }
    },
    follow(show) {
      following = readUntil(signal, async () => (await read()).forEach(show));
    },
    async close() {
      closing.abort();
      await following;
    },
  };
}

/** Repeats `read` until `signal` aborts. After an error, such as a restart of the gateway, pauses. */
async function readUntil(signal: AbortSignal, read: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    try {
      await read();
    } catch {
      await delay(pollAgainMs, undefined, { signal }).catch(() => {});
    }
  }
}
