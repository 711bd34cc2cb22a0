import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { signRequest } from '@svc/signing';
import type { Load, LoadResult } from './messages.ts';

/**
 * A separate process that drives gateways over HTTP, so that its cost is not counted as theirs. It
 * has one kept-alive connection for each request in flight and signs every request.
 *
 * It implements HTTP itself, because on two cores a client library costs as much as a server. It
 * sends only what a correct client sends, and counts only 201 as success.
 */

const target = '/v1/submissions';
const method = 'POST';

process.on('message', (load: Load) => {
  drive(load).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));
process.stdout.write(`${JSON.stringify({ msg: 'ready' })}\n`);

async function drive(load: Load): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  const refused: Record<string, number> = {};
  const sockets = await Promise.all(
    Array.from({ length: load.inFlight }, async (_, index) => {
      const url = new URL(load.gatewayUrls[index % load.gatewayUrls.length] ?? '');
      const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
      await once(socket, 'connect');
      return { socket, host: url.host };
    }),
  );
  const startedMs = performance.now();
  const endMs = startedMs + load.seconds * 1_000;
  let sent = 0;
  const worker = async ({ socket, host }: { socket: Socket; host: string }): Promise<void> => {
    const answers = readAnswers(socket);
    while (performance.now() < endMs && sent < load.requestsMax) {
      const index = sent++;
      if (load.perSecond !== undefined) {
        const dueMs = startedMs + (index * 1_000) / load.perSecond;
        if (dueMs >= endMs) break;
        await delay(Math.max(0, dueMs - performance.now()));
      }
      const bytes = requestOf(load, index, host);
      const askedMs = performance.now();
      socket.write(bytes);
      const status = await answers.next();
      if (status === 201) latenciesMs.push(performance.now() - askedMs);
      else refused[status] = (refused[status] ?? 0) + 1;
    }
    socket.destroy();
  };
  await Promise.all(sockets.map((one) => worker(one)));
  const seconds = (performance.now() - startedMs) / 1_000;
  return { created: latenciesMs.length, refused, seconds, latenciesMs };
}

function requestOf(load: Load, index: number, host: string): string {
  const tenant = load.tenants[index % load.tenants.length];
  if (tenant === undefined) throw new Error('a load has tenants');
  const body = JSON.stringify({
    idempotencyKey: randomUUID(),
    jobType: 'ats.application',
    payload: {
      applicationUrl: 'https://jobs.example.com/apply/8841',
      atsType: 'greenhouse',
      applicantProfile: { name: 'Ana Pérez', email: 'ana@example.com', phone: '+34 600 000 000' },
      jobContext: { title: 'Welder', company: 'Example Works' },
    },
  });
  const timestamp = Math.floor(Date.now() / 1_000);
  const signature = signRequest({ secret: tenant.hmacSecret, timestamp, method, target, body });
  return [
    `${method} ${target} HTTP/1.1`,
    `host: ${host}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-svc-tenant: ${tenant.tenantId}`,
    `x-svc-timestamp: ${timestamp}`,
    `x-svc-signature: ${signature}`,
    '',
    body,
  ].join('\r\n');
}

/** The status of each answer on a connection, when the answer is complete. */
function readAnswers(socket: Socket): { next(): Promise<number> } {
  let received = '';
  let settle: { resolve: (status: number) => void; reject: (error: Error) => void } | undefined;
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    received += chunk;
    const headEnd = received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = /\r\ncontent-length: *([0-9]+)/i.exec(received.slice(0, headEnd + 2))?.[1];
    if (length === undefined) {
      settle?.reject(new Error(`an answer without a length: ${received.slice(0, headEnd)}`));
      return;
    }
    if (received.length < headEnd + 4 + Number(length)) return;
    const status = Number(received.slice(9, 12));
    received = '';
    settle?.resolve(status);
  });
  socket.on('error', (error) => settle?.reject(error));
  socket.on('close', () => settle?.reject(new Error('the gateway closed a connection')));
  return {
    next: () => new Promise((resolve, reject) => void (settle = { resolve, reject })),
  };
}
