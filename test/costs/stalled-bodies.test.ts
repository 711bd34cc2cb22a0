import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWholeStack, type WholeStack } from '../support/whole-stack.ts';

/**
 * Unknown senders begin large bodies and stall. Their bytes share a budget (CONTRACT 2, "Before
 * authentication"). STALLED_CONNECTIONS sets the number of connections.
 */

const connections = Number(process.env['STALLED_CONNECTIONS'] ?? 900);
const sentBytes = 250_000;
/**
 * The growth per connection: 40 KiB for the connection, and a part of the garbage of its reads. A
 * body without a budget would take 244 KiB more.
 */
const grownKibPerConnectionMax = 200;
const sampleMs = 50;

let whole: WholeStack;
beforeAll(async () => {
  whole = await startWholeStack({ gateways: 1 });
});
afterAll(() => whole.close());

function residentKib(): number {
  const status = readFileSync(`/proc/${whole.stack.pid('gateway', 0)}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
}

function stalledRequest(): Buffer {
  const head = [
    'POST /v1/submissions HTTP/1.1',
    'host: a',
    'content-type: application/json',
    'content-length: 262144',
    'x-svc-tenant: tnt_01kajh8z2wf5xav9c3q7m4n6rt',
    `x-svc-timestamp: ${Math.floor(Date.now() / 1000)}`,
    `x-svc-signature: v1=${'0'.repeat(64)}`,
    '\r\n',
  ];
  return Buffer.concat([Buffer.from(head.join('\r\n')), Buffer.alloc(sentBytes, ' ')]);
}

/** Resolves when all bytes are sent, or when the gateway has answered or closed the connection. */
async function stall(bytes: Buffer, index: number): Promise<Socket> {
  const { hostname, port } = new URL(whole.stack.gatewayUrl);
  const localAddress = `127.0.9.${1 + (index % 3)}`;
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  await new Promise<void>((resolve) => {
    socket.on('error', () => resolve());
    socket.once('close', () => resolve());
    socket.once('data', () => resolve());
    socket.write(bytes, () => resolve());
  });
  return socket;
}

test(`${connections} stalled bodies of unknown senders take no more than their budget`, async () => {
  const before = residentKib();
  let peak = before;
  const sampling = setInterval(() => (peak = Math.max(peak, residentKib())), sampleMs);
  const bytes = stalledRequest();
  const sockets = await Promise.all(
    Array.from({ length: connections }, (_, index) => stall(bytes, index)),
  );
  const { status } = await fetch(`${whole.stack.gatewayUrl}/ready`);
  peak = Math.max(peak, residentKib());
  clearInterval(sampling);
  for (const socket of sockets) {
    if (socket.destroyed) continue;
    socket.destroy();
    await once(socket, 'close');
  }
  expect(status).toBe(200);
  const grownKib = peak - before;
  process.stdout.write(`${before} KiB before, ${grownKib} KiB more\n`);
  expect(grownKib / connections).toBeLessThan(grownKibPerConnectionMax);
});
