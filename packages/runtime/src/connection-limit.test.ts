import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { waitUntil } from '@svc/testkit';
import { afterEach, expect, test } from 'vitest';
import { limitConnections } from './connection-limit.ts';
import { createLogger } from './logger.ts';
import { noTrustedProxies, parseTrustedProxies } from './trusted-proxies.ts';

const open: { readonly destroy: () => void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.destroy();
});

async function serverWith(trusted: string | null, connectionsMax = 4) {
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  limitConnections(server, {
    limits: { connectionsMax, addressConnectionsMax: 2 },
    proxies: (trusted === null ? undefined : parseTrustedProxies(trusted)) ?? noTrustedProxies,
    clock: performanceClock,
    logger: createLogger({
      service: 'gateway',
      level: 'warn',
      destination: { write: (line: string) => void lines.push(line) },
    }),
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ destroy: () => server.close() });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    lines,
    sockets,
    /** Connects from a loopback address. Resolves with true if the connection stays open. */
    async admits(localAddress: string): Promise<boolean> {
      const before = sockets.size;
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      socket.on('error', () => {});
      open.push(socket);
      let ended = false;
      socket.once('close', () => (ended = true));
      await waitUntil(() => ended || sockets.size > before);
      return !ended;
    },
  };
}

const performanceClock = { monotonicMs: () => performance.now() };

test('an address and the server have at most so many connections, and a closed one makes room', async () => {
  const server = await serverWith(null);
  expect(await server.admits('127.0.0.1')).toBe(true);
  expect(await server.admits('127.0.0.1')).toBe(true);
  expect(await server.admits('127.0.0.1')).toBe(false);
  expect(await server.admits('127.0.0.2')).toBe(true);
  expect(await server.admits('127.0.0.2')).toBe(true);
  expect(await server.admits('127.0.0.3')).toBe(false);
  const [first] = server.sockets;
  first?.destroy();
  await waitUntil(() => server.sockets.size === 3);
  expect(await server.admits('127.0.0.1')).toBe(true);
  expect(server.lines).toHaveLength(1);
});

test('a trusted proxy has only the limit of the server, because it serves many clients', async () => {
  const server = await serverWith('127.0.0.1');
  for (let count = 0; count < 4; count += 1) expect(await server.admits('127.0.0.1')).toBe(true);
  expect(await server.admits('127.0.0.1')).toBe(false);
});
