import dns from 'node:dns';
import http from 'node:http';
import net from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import {
  type Cleanups,
  closeAll,
  connectTo,
  listen,
  proxyTo,
  requestThrough,
  tunnelTo,
} from './egress.fixture.ts';

const cut = /socket hang up|ECONNRESET|aborted/;
const cleanups: Cleanups = [];
afterEach(() => closeAll(cleanups));

async function echo() {
  const seen = { connections: 0, bytes: 0 };
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    seen.connections += 1;
    socket.on('data', (chunk) => (seen.bytes += chunk.length));
    socket.pipe(socket);
  });
  return { seen, port: await listen(server, cleanups) };
}

test('a tunnel passes bytes unchanged both ways, and counts them exactly', async () => {
  const { port, seen } = await echo();
  const proxy = await proxyTo({ 'site.example:443': port }, cleanups);
  const client = await tunnelTo(proxy, 'site.example:443');
  const payload = 'x'.repeat(100_000);
  client.socket.end(`${payload}end`);
  await client.closed;
  expect(client.received()).toBe(`HTTP/1.1 200 Connection Established\r\n\r\n${payload}end`);
  expect(seen.bytes).toBe(100_003);
  expect(proxy.counts()).toEqual({ sentBytes: 100_003, receivedBytes: 100_003 });
});

test('bytes that arrive together with the CONNECT are passed on', async () => {
  const { port } = await echo();
  const proxy = await proxyTo({ 'site.example:443': port }, cleanups);
  const client = await connectTo(proxy);
  client.socket.write('CONNECT site.example:443 HTTP/1.1\r\n\r\nearly');
  await client.until('early');
  expect(proxy.counts().sentBytes).toBe(5);
});

test('a plain request is forwarded with its body, and its bytes are counted', async () => {
  const sizes = { sent: 0, received: 0 };
  const server = http.createServer((request, response) => {
    request.socket.once('close', () => {
      sizes.sent = request.socket.bytesRead;
      sizes.received = request.socket.bytesWritten;
    });
    const names = Object.keys(request.headers).join();
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => response.end(`${request.method} ${request.url} ${body} ${names}`));
  });
  const proxy = await proxyTo({ 'site.example:80': await listen(server, cleanups) }, cleanups);
  const closed = new Promise<void>((resolve) =>
    server.once('connection', (socket: net.Socket) => socket.once('close', () => resolve())),
  );
  const answer = await requestThrough(proxy, 'http://site.example/a?b=c', {
    method: 'POST',
    body: 'name=Ada',
  });
  expect(answer).toEqual({
    statusCode: 200,
    body: 'POST /a?b=c name=Ada host,content-length,connection',
  });
  await closed;
  expect(proxy.counts()).toEqual({ sentBytes: sizes.sent, receivedBytes: sizes.received });
});

test('the host of a plain request is that of its URL, whatever its header says', async () => {
  const server = http.createServer((request, response) => response.end(request.headers.host));
  const proxy = await proxyTo({ 'site.example:80': await listen(server, cleanups) }, cleanups);
  const client = await connectTo(proxy);
  client.socket.write('GET http://site.example/ HTTP/1.1\r\nHost: inner.example\r\n\r\n');
  await client.until('site.example');
  expect(client.received()).not.toContain('inner.example');
});

test.each([
  '127.0.0.1:80',
  'localhost:443',
  '[::1]:443',
  '[::ffff:10.0.0.1]:443',
  '169.254.169.254:80',
  '2130706433:80',
  'site.example:22',
])('a tunnel to %s is refused, and its host is recorded', async (authority) => {
  const proxy = await proxyTo({}, cleanups);
  const client = await tunnelTo(proxy, authority);
  expect(client.received()).toContain('HTTP/1.1 403 ');
  await client.closed;
  expect(proxy.refusals()).toHaveLength(1);
  expect(proxy.counts()).toEqual({ sentBytes: 0, receivedBytes: 0 });
});

test('a refused plain request gets no answer that could be taken for one of the site', async () => {
  const proxy = await proxyTo({}, cleanups);
  await expect(requestThrough(proxy, 'http://192.168.1.1/admin')).rejects.toThrow('socket hang up');
  expect(proxy.refusals()).toEqual(['192.168.1.1']);
});

test.each([['10.0.0.7'], ['93.184.216.34', '127.0.0.1'], ['::ffff:127.0.0.1'], ['fd00::7']])(
  'a name that resolves to %s is refused',
  async (...addresses) => {
    const proxy = await proxyTo({}, cleanups, () => Promise.resolve(addresses));
    const client = await tunnelTo(proxy, 'inward.example:443');
    expect(client.received()).toContain(' 403 ');
    expect(proxy.refusals()).toEqual(['inward.example']);
  },
);

test('a name is looked up once, so that a later answer cannot point elsewhere', async () => {
  const answers = [['192.168.1.1'], ['93.184.216.34']];
  let lookUps = 0;
  const proxy = await proxyTo({}, cleanups, () => {
    lookUps += 1;
    return Promise.resolve(answers.shift() ?? []);
  });
  await tunnelTo(proxy, 'changing.example:443');
  const again = await tunnelTo(proxy, 'changing.example:443');
  expect(again.received()).toContain(' 403 ');
  expect(lookUps).toBe(1);
});

test.each([[['93.184.216.34']], [['93.184.216.34', '93.184.216.35']]])(
  'the addresses of the look-up are dialed, and not the name: %j',
  async (addresses) => {
    const lookUp = vi.spyOn(dns, 'lookup');
    onTestFinished(() => lookUp.mockRestore());
    const proxy = await proxyTo({}, cleanups, () => Promise.resolve(addresses));
    // The rules allow the destination. The connection fails, because tests may connect to this
    // machine only.
    const client = await tunnelTo(proxy, 'public.example:443');
    expect(client.received()).toContain('HTTP/1.1 502 ');
    expect(proxy.refusals()).toEqual([]);
    expect(lookUp.mock.calls.map(([name]) => name)).not.toContain('public.example');
  },
);

test('a site that cannot be reached fails the tunnel, and is no refusal', async () => {
  const proxy = await proxyTo({}, cleanups, () => Promise.reject(new Error('no such name')));
  const client = await tunnelTo(proxy, 'gone.example:443');
  expect(client.received()).toContain('HTTP/1.1 502 ');
  expect(proxy.refusals()).toEqual([]);
});

test.each([
  'garbage\r\n\r\n',
  '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
  'GET / HTTP/1.1\r\nHost: site.example\r\n\r\n',
  'GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET https://site.example/ HTTP/1.1\r\nHost: site.example\r\n\r\n',
  'CONNECT  HTTP/1.1\r\n\r\n',
  `GET http://site.example/ HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(70_000)}\r\n\r\n`,
  'GET http://site.example/ HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  'POST http://site.example/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
])('garbage closes its connection only: %.40j', async (text) => {
  const { port, seen } = await echo();
  const proxy = await proxyTo({ 'site.example:80': port }, cleanups);
  const client = await connectTo(proxy);
  client.socket.write(text, 'latin1');
  await client.closed;
  expect(client.received()).not.toContain('HTTP/1.1 200');
  expect(seen.connections).toBe(0);
  const working = await tunnelTo(proxy, 'site.example:80');
  expect(working.received()).toContain(' 200 ');
});

test('an answer that is no HTTP closes the connection of the browser', async () => {
  for (const answer of [
    'nonsense\r\n\r\n',
    'HTTP/1.1 099 Odd\r\n\r\n',
    'HTTP/1.1 101 Switch\r\n\r\n',
    '',
  ]) {
    const server = net.createServer((socket) => {
      socket.once('data', () => socket.end(answer));
    });
    const proxy = await proxyTo({ 'site.example:80': await listen(server, cleanups) }, cleanups);
    await expect(requestThrough(proxy, 'http://site.example/')).rejects.toThrow(cut);
  }
});

test('an answer that is cut is cut for the browser, too', async () => {
  const server = net.createServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'));
  });
  const proxy = await proxyTo({ 'site.example:80': await listen(server, cleanups) }, cleanups);
  await expect(requestThrough(proxy, 'http://site.example/')).rejects.toThrow('aborted');
});

test('a kept connection of the browser serves many plain requests', async () => {
  const server = http.createServer((request, response) => response.end(request.url));
  const proxy = await proxyTo({ 'site.example:80': await listen(server, cleanups) }, cleanups);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (let at = 0; at < 30; at += 1) {
    const { body } = await requestThrough(proxy, `http://site.example/${at}`, { agent });
    expect(body).toBe(`/${at}`);
  }
  expect(Object.values(agent.freeSockets).flat()).toHaveLength(1);
  agent.destroy();
});

const submission = { method: 'POST', url: 'https://site.example/apply' };

test('a seal closes every connection, and then lets one through in all', async () => {
  const { port, seen } = await echo();
  const proxy = await proxyTo({ 'site.example:443': port, 'cdn.example:443': port }, cleanups);
  const before = await tunnelTo(proxy, 'site.example:443');
  proxy.seal(submission);
  await before.closed;
  const other = await connectTo(proxy);
  other.socket.write('CONNECT cdn.example:443 HTTP/1.1\r\n\r\n');
  const slot = await tunnelTo(proxy, 'site.example:443');
  const again = await connectTo(proxy);
  again.socket.write('CONNECT site.example:443 HTTP/1.1\r\n\r\n');
  slot.socket.write('application');
  await slot.until('application');
  expect([seen.connections, other.received(), again.received()]).toEqual([2, '', '']);
  proxy.release();
  await Promise.all([other.until(' 200 '), again.until(' 200 ')]);
  expect(seen.connections).toBe(4);
});

test('after the one connection of a seal is cut, no other leaves', async () => {
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    socket.once('data', () => socket.destroy());
  });
  const proxy = await proxyTo({ 'site.example:443': await listen(server, cleanups) }, cleanups);
  proxy.seal(submission);
  const slot = await tunnelTo(proxy, 'site.example:443');
  const held = await connectTo(proxy);
  held.socket.write('CONNECT site.example:443 HTTP/1.1\r\n\r\n');
  slot.socket.write('application');
  await Promise.all([slot.closed, held.closed]);
  const later = await tunnelTo(proxy, 'site.example:443');
  expect([held.received(), later.received()]).toEqual([
    expect.stringContaining(' 502 '),
    expect.stringContaining(' 502 '),
  ]);
  expect(connections).toBe(1);
});

test('a plain submission leaves once, also over a kept connection of the browser', async () => {
  const methods: string[] = [];
  const server = http.createServer((request, response) => {
    methods.push(request.method ?? '');
    if (request.method === 'POST') request.socket.destroy();
    else response.end('ok');
  });
  const proxy = await proxyTo({ 'site.example:80': await listen(server, cleanups) }, cleanups);
  const url = 'http://site.example/apply';
  proxy.seal({ method: 'POST', url });
  expect((await requestThrough(proxy, url, { method: 'OPTIONS' })).body).toBe('ok');
  await expect(requestThrough(proxy, url, { method: 'POST', body: 'a' })).rejects.toThrow(cut);
  await expect(requestThrough(proxy, url, { method: 'POST', body: 'a' })).rejects.toThrow(cut);
  expect(methods).toEqual(['OPTIONS', 'POST']);
});

test('a site that cannot be reached uses up the seal', async () => {
  const proxy = await proxyTo({ 'site.example:443': 9 }, cleanups);
  proxy.seal(submission);
  expect((await tunnelTo(proxy, 'site.example:443')).received()).toContain(' 502 ');
  expect((await tunnelTo(proxy, 'site.example:443')).received()).toContain(' 502 ');
});

test('a shut proxy closes everything and opens nothing', async () => {
  const { port, seen } = await echo();
  const proxy = await proxyTo({ 'site.example:443': port }, cleanups);
  const open = await tunnelTo(proxy, 'site.example:443');
  proxy.shut();
  await open.closed;
  proxy.release();
  expect((await tunnelTo(proxy, 'site.example:443')).received()).toContain(' 502 ');
  expect(seen.connections).toBe(1);
});
