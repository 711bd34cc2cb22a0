import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import {
  createWebhookReceiver,
  type TenantCredentials,
  waitUntil,
  type WebhookReceiver,
} from '@svc/testkit';
import { expect, onTestFinished } from 'vitest';
import { job } from './job.ts';
import type { WholeStack } from './whole-stack.ts';
import type { WireAnswer } from './wire.ts';

export interface NotifiedTenants {
  readonly notifiedTenant: (options?: { grantCredits?: number }) => Promise<{
    readonly tenant: TenantCredentials;
    readonly receiver: WebhookReceiver;
  }>;
  readonly ask: (
    tenant: TenantCredentials,
    method: string,
    target: string,
    body?: object,
  ) => Promise<WireAnswer>;
  /** Returns the id of the test event's delivery. */
  readonly sendTest: (tenant: TenantCredentials) => Promise<string>;
  readonly submit: (tenant: TenantCredentials, idempotencyKey: string) => Promise<string>;
  /**
   * Waits until at least `count` attempts of the delivery's latest round are recorded. Throws after
   * 30 s.
   */
  readonly recorded: (
    tenant: TenantCredentials,
    deliveryId: string,
    count: number,
  ) => Promise<ShownDelivery>;
}

interface ShownDelivery {
  readonly status: string;
  readonly nextAttemptAt: string | null;
  readonly attempts: readonly {
    readonly number: number;
    readonly statusCode: number | null;
    readonly durationMs: number | null;
    readonly error: string | null;
    readonly response: string | null;
    readonly at: string;
  }[];
}

export function notifiedTenants(wholeStack: () => WholeStack): NotifiedTenants {
  const ask: NotifiedTenants['ask'] = (tenant, method, target, body) =>
    wholeStack().askAs(tenant, { method, target, ...(body === undefined ? {} : { body }) });

  const shown = async (tenant: TenantCredentials, id: string): Promise<ShownDelivery> =>
    JSON.parse((await ask(tenant, 'GET', `/v1/webhooks/deliveries/${id}`)).text);

  return {
    ask,
    async notifiedTenant(options = {}) {
      const receiver = await createWebhookReceiver();
      onTestFinished(() => receiver.close());
      const tenant = await wholeStack().tenant({ webhookUrl: receiver.url, ...options });
      return { receiver, tenant };
    },
    async sendTest(tenant) {
      const answer = await ask(tenant, 'POST', '/v1/webhooks/test');
      expect(answer.status).toBe(202);
      return String(answer.body['deliveryId']);
    },
    async submit(tenant, idempotencyKey) {
      const created = await ask(tenant, 'POST', '/v1/submissions', job(idempotencyKey));
      expect(created.status).toBe(201);
      return String(created.body['submissionId']);
    },
    recorded: (tenant, id, count) =>
      waitUntil(
        async () => {
          const delivery = await shown(tenant, id);
          const done = delivery.attempts.filter(({ durationMs }) => durationMs !== null);
          return done.length >= count && delivery;
        },
        { what: `attempt ${count}`, timeoutMs: 30_000 },
      ),
  };
}

/**
 * Starts a TCP endpoint that calls `answer` for each chunk of data, with the number of chunks so
 * far on all connections. `requests` has the chunks in lower case.
 */
export async function rawEndpoint(answer: (socket: Socket, count: number) => void) {
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        requests.push(chunk.toString('utf8').toLowerCase());
        answer(socket, requests.length);
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/`, requests };
}
