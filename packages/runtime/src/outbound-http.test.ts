import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { createOutboundHttp, responseBytesMax, type OutboundHttp } from './outbound-http.ts';
import type { ResolveAll } from './resolve-names.ts';

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function portOf(server: { address(): unknown }): number {
  const address = server.address();
  if (typeof address !== 'object' || address === null || !('port' in address)) throw new Error();
  return Number(address.port);
}

async function serve(listener: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { server, url: `http://127.0.0.1:${portOf(server)}/hook` };
}

function client(
  options: Omit<Parameters<typeof createOutboundHttp>[0], 'monotonicMs'>,
): OutboundHttp {
  const http = createOutboundHttp({ ...options, monotonicMs: () => performance.now() });
  cleanups.push(() => http.close());
  return http;
}

function answering(...answers: string[]): ResolveAll {
  return (_hostname, _options, callback) => {
    callback(
      null,
      answers.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
}

const request = { headers: { 'x-a': '1' }, body: Buffer.from('{"a":1}'), timeoutMs: 5_000 };

const refusedAddress = 'the destination is not a public address that the service may contact';

describe('with private networks allowed', () => {
  test('a denied address is refused', async () => {
    const { url } = await serve((_incoming, response) => response.end());
    const http = client({ allowPrivateNetworks: true, deniedCidrs: ['127.0.0.0/8'] });
    expect(await http.post({ ...request, url })).toMatchObject({
      kind: 'refused',
      reason: refusedAddress,
    });
  });

  test('posts exactly the given bytes and headers, and returns status, headers and body', async () => {
    let seen = '';
    const { url } = await serve((incoming, response) => {
      incoming.setEncoding('utf8').on('data', (chunk: string) => {
        seen += [incoming.method, incoming.headers['x-a'], chunk].join(' ');
      });
      incoming.on('end', () => response.writeHead(201, { 'retry-after': '7' }).end('thanks'));
    });
    const outcome = await client({ allowPrivateNetworks: true }).post({ ...request, url });
    expect(seen).toBe('POST 1 {"a":1}');
    expect(outcome).toMatchObject({ kind: 'responded', statusCode: 201 });
    if (outcome.kind !== 'responded') return;
    expect(outcome.headers['retry-after']).toBe('7');
    expect(Buffer.from(outcome.body).toString()).toBe('thanks');
  });

  test('a redirect is returned as a response and not followed', async () => {
    let requests = 0;
    const { url } = await serve((_incoming, response) => {
      requests += 1;
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    const outcome = await client({ allowPrivateNetworks: true }).post({ ...request, url });
    expect(outcome).toMatchObject({ kind: 'responded', statusCode: 307 });
    expect(requests).toBe(1);
  });

  test('an error status is returned as a response, without a retry', async () => {
    let requests = 0;
    const { url } = await serve((_incoming, response) => {
      requests += 1;
      response.writeHead(503).end('no');
    });
    const outcome = await client({ allowPrivateNetworks: true }).post({ ...request, url });
    expect(outcome).toMatchObject({ kind: 'responded', statusCode: 503 });
    expect(requests).toBe(1);
  });

  test('an endless response is cut at the limit, and its connection is closed', async () => {
    const chunk = Buffer.alloc(16 * 1024, 'x');
    const closed = Promise.withResolvers<void>();
    const { url } = await serve((_incoming, response) => {
      const fill = (): void => {
        while (response.write(chunk));
      };
      response.on('drain', fill).on('close', () => closed.resolve());
      fill();
    });
    const outcome = await client({ allowPrivateNetworks: true }).post({ ...request, url });
    expect(outcome.kind === 'responded' && outcome.body.length).toBe(responseBytesMax);
    await closed.promise;
  });

  test('a slow response fails when its total time is over', async () => {
    const { url } = await serve((_incoming, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
    });
    const outcome = await client({ allowPrivateNetworks: true }).post({
      ...request,
      url,
      timeoutMs: 150,
    });
    expect(outcome).toMatchObject({
      kind: 'failed',
      reason: 'request: no complete response within 150 ms',
    });
  });

  test('a missing response fails in time', async () => {
    const { url } = await serve(() => {});
    const outcome = await client({ allowPrivateNetworks: true }).post({
      ...request,
      url,
      timeoutMs: 100,
    });
    expect(outcome).toMatchObject({
      kind: 'failed',
      reason: 'request: no complete response within 100 ms',
    });
  });

  test('garbage, a reset and a closed port are failures, not exceptions', async () => {
    const sockets: Socket[] = [];
    const garbage = createTcpServer((socket) => {
      sockets.push(socket.on('error', () => {}));
      socket.once('data', () => socket.end('garbage\r\n\r\n'));
    }).listen(0, '127.0.0.1');
    const resetting = createTcpServer((socket) => {
      socket.on('error', () => {}).once('data', () => socket.resetAndDestroy());
    }).listen(0, '127.0.0.1');
    await Promise.all([once(garbage, 'listening'), once(resetting, 'listening')]);
    const http = client({ allowPrivateNetworks: true });
    for (const server of [garbage, resetting]) {
      const url = `http://127.0.0.1:${portOf(server)}/`;
      expect((await http.post({ ...request, url })).kind).toBe('failed');
    }
    const closedPort = portOf(resetting);
    garbage.close();
    resetting.close();
    for (const socket of sockets) socket.destroy();
    const url = `http://127.0.0.1:${closedPort}/`;
    expect((await http.post({ ...request, url })).kind).toBe('failed');
  });

  test.each([
    [
      'another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    ],
    ['less than it announced', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'],
    [
      'a piece without an end',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n',
    ],
    ['nothing', ''],
  ])('a response with %s counts as no response', async (_what, answer) => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {}).once('data', () => socket.end(answer));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${portOf(server)}/`;
    const outcome = await client({ allowPrivateNetworks: true }).post({ ...request, url });
    server.close();
    expect(outcome).toMatchObject({ kind: 'failed', timedOut: false });
  });

  test('a connection is reused, also after a response that came early', async () => {
    const ports = new Set<number | undefined>();
    const { url } = await serve((incoming, response) => {
      ports.add(incoming.socket.remotePort);
      incoming.resume();
      response.writeHead(503).end('busy');
    });
    const http = client({ allowPrivateNetworks: true });
    for (let sent = 0; sent < 3; sent += 1) {
      const body = Buffer.alloc(100_000);
      expect(await http.post({ ...request, url, body })).toMatchObject({ statusCode: 503 });
    }
    expect(ports.size).toBe(1);
  });

  test('a request is cancelled when the service stops', async () => {
    const { url } = await serve(() => {});
    const stopping = new AbortController();
    const outcome = client({ allowPrivateNetworks: true }).post({
      ...request,
      url,
      signal: stopping.signal,
    });
    stopping.abort();
    expect(await outcome).toMatchObject({
      kind: 'failed',
      reason: 'cancelled because the service is stopping',
    });
  });
});

test('a name is resolved and its address is connected to, over TLS for https', async () => {
  const server = createTlsServer({}, () => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => void server.close());
  const attempted = once(server, 'tlsClientError');
  const http = client({ allowPrivateNetworks: true, resolveAll: answering('127.0.0.1') });
  const url = `https://hooks.example.com:${portOf(server)}/`;
  // The server has no certificate, so the connection ends at the handshake.
  expect((await http.post({ ...request, url })).kind).toBe('failed');
  await attempted;
});

describe('with private networks refused', () => {
  test.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.1/',
    'https://127.1/',
    'https://0x7f.0.0.1/',
    'https://017700000001/',
    'https://①②⑦.⓪.⓪.①/',
    'https://100.64.0.1/',
    'https://0.0.0.0/',
    'https://[::]/',
    'https://[::ffff:7f00:1]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b:1::a00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[fe80::1]/',
    'https://[ff02::1]/',
    'https://hooks.localhost/',
    'https://router.lan./',
    'https://metadata.google.internal/',
    'https://10.1.2.3/',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[fd00::1]/',
    'https://224.0.0.1/',
    'https://localhost/',
  ])('%s is refused by its text, before any name look-up', async (url) => {
    expect(await client({ allowPrivateNetworks: false }).post({ ...request, url })).toMatchObject({
      kind: 'refused',
      reason: 'the URL must have a public host name or address',
      durationMs: 0,
    });
  });

  test.each([['127.0.0.1'], ['10.0.0.1', '::1'], ['::ffff:10.0.0.1']])(
    'a name that resolves to %s is refused',
    async (...answers) => {
      const http = client({ allowPrivateNetworks: false, resolveAll: answering(...answers) });
      const outcome = await http.post({ ...request, url: 'https://hooks.example.com/' });
      expect(outcome).toMatchObject({
        kind: 'refused',
        reason: refusedAddress,
      });
    },
  );

  test.each([
    ['an own address', '93.184.216.34'],
    ['the /56 of an own address', '2a0e:1:2:3ff::9'],
    ['a denied address', '198.41.0.4'],
  ])('a name that resolves to %s is refused', async (_name, address) => {
    const own = [
      { address: '93.184.216.34', cidr: '93.184.216.34/24' },
      { address: '2a0e:1:2:300::2', cidr: '2a0e:1:2:300::2/64' },
    ];
    const http = client({
      allowPrivateNetworks: false,
      deniedCidrs: ['198.41.0.0/24'],
      interfaces: () => ({ eth0: own }),
      resolveAll: answering(address),
    });
    const literal = address.includes(':') ? `[${address}]` : address;
    for (const host of ['hooks.example.com', literal]) {
      const outcome = await http.post({ ...request, url: `https://${host}/` });
      expect(outcome).toMatchObject({ kind: 'refused', reason: refusedAddress });
    }
  });

  test('a name that is public at first and private when connecting is refused', async () => {
    let asked = 0;
    const rebinding: ResolveAll = (_hostname, _options, callback) => {
      asked += 1;
      callback(null, [{ address: asked === 1 ? '93.184.216.34' : '127.0.0.1', family: 4 }]);
    };
    // This call simulates a check of the name before the request. It gets the public address, and
    // every later look-up gets the private address.
    rebinding('hooks.example.com', {}, () => {});
    const http = client({ allowPrivateNetworks: false, resolveAll: rebinding });
    for (let n = 0; n < 2; n += 1) {
      const outcome = await http.post({ ...request, url: 'https://hooks.example.com/' });
      expect(outcome).toMatchObject({
        kind: 'refused',
        reason: refusedAddress,
      });
    }
    expect(asked).toBe(3);
  });

  test('a server on loopback never sees a connection', async () => {
    let connections = 0;
    const { server, url } = await serve((_incoming, response) => response.end());
    server.on('connection', () => {
      connections += 1;
    });
    const port = new URL(url).port;
    const http = client({ allowPrivateNetworks: false, resolveAll: answering('127.0.0.1') });
    for (const host of ['127.0.0.1', 'hooks.example.com']) {
      const outcome = await http.post({ ...request, url: `https://${host}:${port}/` });
      expect(outcome.kind).toBe('refused');
    }
    // A server accepts connections in the order in which they arrive. It has therefore counted
    // every connection of the client before it accepts this probe.
    const probe = connect(Number(port), '127.0.0.1');
    await once(server, 'connection');
    probe.destroy();
    expect(connections).toBe(1);
  });

  test.each([
    ['http://hooks.example.com/', 'the URL must be an https URL'],
    ['ftp://hooks.example.com/', 'the URL must be an https URL'],
    ['unix:/var/run/docker.sock:/x', 'the URL must be an https URL'],
    ['https://user:secret@hooks.example.com/', 'the URL must not contain a user name or password'],
    ['not a url', 'the URL must be a valid URL'],
  ])('%s is refused: %s', async (url, reason) => {
    const outcome = await client({ allowPrivateNetworks: false }).post({ ...request, url });
    expect(outcome).toMatchObject({ kind: 'refused', reason });
  });
});

test('http://unix: URLs do not reach a socket even if private networks are allowed', async () => {
  const outcome = await client({ allowPrivateNetworks: true }).post({
    ...request,
    url: 'http://unix:/var/run/docker.sock:/x',
  });
  expect(outcome.kind).not.toBe('responded');
});
