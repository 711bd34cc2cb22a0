import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { startNameServer, typeA } from './name-server.fixture.ts';
import { createOutboundHttp } from './outbound-http.ts';
import { createResolver } from './resolve-names.ts';

const typeAaaa = 28;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function listen(server: Server): Promise<number> {
  server.listen(0, 'localhost');
  await once(server, 'listening');
  cleanups.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function clientOf(names: Awaited<ReturnType<typeof startNameServer>>) {
  cleanups.push(() => names.close());
  const http = createOutboundHttp({
    allowPrivateNetworks: true,
    monotonicMs: () => performance.now(),
    resolveAll: createResolver([names.address]),
  });
  cleanups.push(() => http.close());
  return http;
}

const request = { headers: {}, body: Buffer.from('{}'), timeoutMs: 15_000 };

test.each([
  ['AAAA', typeAaaa],
  ['A', typeA],
])('a dropped %s query delays no request', async (_what, dropped) => {
  const names = await startNameServer({ isDropped: (_label, type) => type === dropped });
  const http = await clientOf(names);
  const server = createServer((_incoming, response) => response.end('ok'));
  server.listen(0, dropped === typeA ? '::1' : '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => server.close());
  const address = server.address();
  const port = address === null || typeof address === 'string' ? 0 : address.port;
  const url = `http://hooks.example.com:${port}/`;
  expect(await http.post({ ...request, url })).toMatchObject({ statusCode: 200 });
  // The resolver asks again after `queryTimeoutMs`. It has not waited that long.
  expect(names.count(dropped)).toBe(1);
});

test('if one family has no answer, the other has the whole time of its query', async () => {
  let queries = 0;
  // The first AAAA query is lost, and there is never an answer for A.
  const isDropped = (_label: string, type: number) => type === typeA || (queries += 1) === 1;
  const http = await clientOf(await startNameServer({ isDropped }));
  const url = 'http://hooks.example.com:9/';
  expect(await http.post({ ...request, url })).toMatchObject({
    reason: expect.stringMatching(/^connect: .*ECONNREFUSED/),
  });
});

test('a failed request says which step failed', async () => {
  const names = await startNameServer({ isDropped: (label) => label === 'silent' });
  const http = await clientOf(names);
  const mute = await listen(createTcpServer((socket) => void socket.on('error', () => {})));
  const rude = await listen(createTcpServer((socket) => void socket.destroy()));
  const reasonOf = async (url: string, timeoutMs = 500): Promise<string> => {
    const outcome = await http.post({ ...request, url, timeoutMs });
    return outcome.kind === 'failed' ? outcome.reason : outcome.kind;
  };
  expect(await reasonOf('http://silent.example.com/')).toBe(
    'look-up: the name servers gave no address within 500 ms',
  );
  expect(await reasonOf('http://hooks.example.com:9/', 5_000)).toMatch(/^connect: /);
  expect(await reasonOf('http://127.0.0.1:9/', 5_000)).toMatch(/^connect: /);
  expect(await reasonOf(`https://hooks.example.com:${mute}/`)).toBe(
    'TLS: no complete TLS handshake within 500 ms',
  );
  expect(await reasonOf(`http://hooks.example.com:${mute}/`)).toBe(
    'request: no complete response within 500 ms',
  );
  expect(await reasonOf(`http://hooks.example.com:${rude}/`, 5_000)).toMatch(/^request: /);
});
