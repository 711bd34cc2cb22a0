import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { bodyBytesMax } from '@svc/domain';
import { noTrustedProxies, parseTrustedProxies } from '@svc/runtime';
import { signRequest } from '@svc/signing';
import { waitUntil } from '@svc/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { rawCodeOf, sendTo, startApp, tenantId } from '../app.fixture.ts';
import { createBodyBudget } from './body-budget.ts';
import type { HttpServer } from './http-server.ts';

/** Attacks with requests that nobody has authenticated (CONTRACT 2). */

const budgetBytes = 2 * 1024 * 1024;
const stalledBytes = 250_000;
const timeouts = { headersMs: 60_000, requestMs: 60_000, checkEveryMs: 50 };
const proxies = parseTrustedProxies('127.0.0.9') ?? noTrustedProxies;

let server: HttpServer;
beforeAll(async () => {
  const bodyBudget = createBodyBudget(budgetBytes);
  const connections = { connectionsMax: 40, addressConnectionsMax: 20 };
  server = await startApp({ bodyBudget, timeouts, connections, proxies });
});
afterAll(() => server.close());

const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) {
    if (socket.destroyed) continue;
    socket.destroy();
    await once(socket, 'close');
  }
});

interface Conversation {
  readonly socket: Socket;
  readonly text: () => string;
}

async function open(localAddress = '127.0.0.1'): Promise<Conversation> {
  const socket = connect({ port: server.port, host: '127.0.0.1', localAddress });
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  socket.on('error', () => {});
  sockets.push(socket);
  await once(socket, 'connect');
  return { socket, text: () => text };
}

function headOf(bytes: number | 'chunked', more: readonly string[] = []): string {
  const length = bytes === 'chunked' ? 'transfer-encoding: chunked' : `content-length: ${bytes}`;
  const timestamp = Math.floor(Date.now() / 1000);
  const parts = { secret: 'forged', timestamp, method: 'POST', target: '/v1/things', body: '' };
  return [
    'POST /v1/things HTTP/1.1',
    'host: x',
    `x-svc-tenant: ${tenantId}`,
    `x-svc-timestamp: ${timestamp}`,
    `x-svc-signature: ${signRequest(parts)}`,
    ...more,
    length,
    '\r\n',
  ].join('\r\n');
}

/** Sends all of a body but its last byte. */
async function stall(from: string, more: readonly string[] = []): Promise<Conversation> {
  const conversation = await open(from);
  conversation.socket.write(headOf(stalledBytes + 1, more));
  conversation.socket.write(Buffer.alloc(stalledBytes, 0x20));
  return conversation;
}

const answered = ({ text }: Conversation) => waitUntil(() => text().includes('"requestId"'));

test('bodies that stall fill the share of their address, and nobody else’s', async () => {
  const first = await stall('127.0.0.1');
  const second = await stall('127.0.0.1');
  await answered(second);
  expect(second.text()).toMatch(/^HTTP\/1.1 503 [^]*\r\nretry-after: 1\r\n/i);
  expect(second.text()).toContain('"code":"unavailable"');
  expect(first.text()).toBe('');
  const chunked = await open('127.0.0.1');
  chunked.socket.write(headOf('chunked'));
  await answered(chunked);
  expect(chunked.text()).toMatch(/^HTTP\/1.1 503 /);
  // A small body of the same address has room, and so has any body of another address.
  const small = await sendTo(server, { method: 'POST', target: '/v1/things', body: '{}' });
  expect(small.status).toBe(201);
  const other = await stall('127.0.0.2');
  await answered(first);
  expect(other.text()).toBe('');
  await answered(other);
});

test('the whole process has one budget, and each end of a request returns its share', async () => {
  const stalled: Conversation[] = [];
  for (let at = 1; at <= 9; at += 1) stalled.push(await stall(`127.0.1.${at}`));
  await Promise.all(stalled.map(answered));
  const statuses = stalled.map(({ text }) => text().slice(9, 12));
  expect(statuses.filter((status) => status === '408')).toHaveLength(8);
  expect(statuses.filter((status) => status === '503')).toHaveLength(1);
  for (const body of [Buffer.alloc(stalledBytes, 0x20), 'x']) {
    for (let count = 0; count < 10; count += 1) {
      const forged = { method: 'POST', target: '/v1/things', body, secret: 'forged' };
      expect((await sendTo(server, forged)).status).toBe(401);
    }
  }
  for (let count = 0; count < 10; count += 1) {
    const { socket } = await stall('127.0.0.1');
    socket.destroy();
    await once(socket, 'close');
  }
  await waitUntil(async () => {
    const large = { method: 'POST', target: '/v1/things', body: Buffer.alloc(bodyBytesMax, 0x20) };
    return (await sendTo(server, large)).status === 201;
  });
});

const forwardedFor = (address: string) => [`x-forwarded-for: ${address}:50123`];

test('each client of a proxy has its share', async () => {
  const first = await stall('127.0.0.9', forwardedFor('203.0.113.7'));
  const second = await stall('127.0.0.9', forwardedFor('203.0.113.7'));
  await answered(second);
  const other = await stall('127.0.0.9', forwardedFor('203.0.113.8'));
  await answered(other);
  expect([second.text().slice(9, 12), other.text().slice(9, 12)]).toEqual(['503', '408']);
  expect(first.text()).toContain('"code":"request_timeout"');
});

test('a body that drips is refused in seconds, and one that keeps the pace is read', async () => {
  const slow = await open('127.0.0.2');
  slow.socket.write(headOf(stalledBytes));
  const steady = await open('127.0.0.3');
  steady.socket.write(headOf(40_960));
  const drip = setInterval(() => slow.socket.write('x'), 50);
  const flow = setInterval(() => steady.socket.write(Buffer.alloc(1_024)), 100);
  await answered(slow);
  clearInterval(drip);
  expect(rawCodeOf(headAndBody(slow.text()))).toBe('request_timeout');
  await answered(steady);
  clearInterval(flow);
  expect(rawCodeOf(headAndBody(steady.text()))).toBe('unauthenticated');
});

/** The answer without what the server sends after it. */
function headAndBody(text: string): string {
  return text.slice(0, text.indexOf('}') + 1);
}

test('a timestamp outside the window is refused before the body is read', async () => {
  const waiting = await open();
  const old = `${Math.floor(Date.now() / 1000) - 400}`;
  waiting.socket.write(headOf(stalledBytes).replace(/(?<=x-svc-timestamp: )\d+/, old));
  await answered(waiting);
  expect(waiting.text()).toMatch(/^HTTP\/1.1 401 /);
  expect(waiting.text()).toContain('behind the clock');
});

test('an address has a limit of connections', async () => {
  const held: Conversation[] = [];
  for (let count = 0; count < 20; count += 1) held.push(await open('127.0.0.4'));
  const { socket } = await open('127.0.0.4');
  await once(socket, 'close');
  const other = await open('127.0.0.5');
  other.socket.write('GET /open HTTP/1.1\r\nhost: x\r\n\r\n');
  await waitUntil(() => other.text().includes('"open"'));
  expect(held.every((one) => !one.socket.destroyed)).toBe(true);
});

test('a body in thousands of chunks arrives whole', async () => {
  const chunked = await open('127.0.0.6');
  chunked.socket.write(headOf('chunked'));
  chunked.socket.write('1\r\nx\r\n'.repeat(30_000));
  chunked.socket.write('0\r\n\r\n');
  await answered(chunked);
  expect(chunked.text()).toMatch(/^HTTP\/1.1 401 /);
});
