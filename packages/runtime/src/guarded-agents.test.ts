import { once } from 'node:events';
import http from 'node:http';
import { isPublicAddress } from '@svc/domain';
import { afterEach, expect, test } from 'vitest';
import { createAgents, DestinationRefused, type Agents } from './guarded-agents.ts';
import type { ResolveAll } from './resolve-names.ts';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

function agentsFor(options: Partial<Parameters<typeof createAgents>[0]>): Agents {
  const agents = createAgents({ isAllowed: isPublicAddress, keepAlive: {}, ...options });
  cleanups.push(() => agents.http.destroy());
  return agents;
}

async function serverPort(): Promise<number> {
  const server = http.createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => server.close().closeAllConnections());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function errorOf(request: http.ClientRequest): Promise<unknown> {
  const [error]: unknown[] = await once(request, 'error');
  return error;
}

async function responseTo(request: http.ClientRequest): Promise<http.IncomingMessage> {
  return await new Promise((resolve, reject) => {
    request.on('response', (response) => resolve(response.resume())).on('error', reject);
  });
}

const twoAddresses: ResolveAll = (_hostname, _options, callback) =>
  callback(null, [
    { address: '127.0.0.2', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ]);

test.each([
  'http://127.0.0.1:9/',
  'http://[::1]:9/',
  'http://[::ffff:10.0.0.1]/',
  'http://169.254.169.254/',
])('%s is refused by the agent itself', async (url) => {
  const request = http.get(url, { agent: agentsFor({}).http });
  expect(await errorOf(request)).toBeInstanceOf(DestinationRefused);
});

test('a unix socket is refused', async () => {
  const agents = agentsFor({ isAllowed: () => true });
  const request = http.get({ agent: agents.http, socketPath: '/nonexistent.sock' });
  expect(await errorOf(request)).toBeInstanceOf(DestinationRefused);
});

test('a refusal for a waiting request fails only that request', async () => {
  const port = await serverPort();
  const { http: agent } = agentsFor({
    isAllowed: (ip) => ip === '127.0.0.1',
    keepAlive: { keepAlive: true, maxSockets: 1 },
  });
  const response = responseTo(http.get(`http://127.0.0.1:${port}/`, { agent }));
  const error = errorOf(http.get('http://127.0.0.2:9/', { agent }));
  expect((await response).statusCode).toBe(200);
  expect(await error).toBeInstanceOf(DestinationRefused);
});

test('only the allowed addresses of a name are connected to', async () => {
  const port = await serverPort();
  const { http: agent } = agentsFor({
    isAllowed: (ip) => ip === '127.0.0.1',
    resolveAll: twoAddresses,
  });
  const request = http.get(`http://hooks.example.com:${port}/`, { agent });
  const [socket] = await once(request, 'socket');
  await once(socket, 'connect');
  expect(socket.remoteAddress).toBe('127.0.0.1');
  expect((await responseTo(request)).statusCode).toBe(200);
});

async function completed(request: http.ClientRequest): Promise<http.ClientRequest> {
  return await new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      // `setImmediate` runs after the `process.nextTick` in which Node returns the connection to
      // the agent.
      response.resume().on('close', () => setImmediate(resolve, request));
    });
  });
}

test('idle connections to some hosts never delay a request to another host', async () => {
  const ports = [await serverPort(), await serverPort(), await serverPort()];
  const { http: agent } = agentsFor({
    isAllowed: () => true,
    keepAlive: { keepAlive: true, idleSocketsMax: 1 },
  });
  for (const port of [...ports, ...ports]) {
    await completed(http.get(`http://127.0.0.1:${port}/`, { agent }));
  }
  expect(Object.values(agent.freeSockets).flat()).toHaveLength(1);
});

test('a reused connection is kept for reuse again', async () => {
  const [one, other] = [await serverPort(), await serverPort()];
  const { http: agent } = agentsFor({
    isAllowed: () => true,
    keepAlive: { keepAlive: true, idleSocketsMax: 1 },
  });
  const reused = async (port: number) =>
    (await completed(http.get(`http://127.0.0.1:${port}/`, { agent }))).reusedSocket;
  expect([await reused(one), await reused(one), await reused(other), await reused(one)]).toEqual([
    false,
    true,
    false,
    true,
  ]);
});
