import { once } from 'node:events';
import { connect } from 'node:net';
import { compileSchema, Problem } from '@svc/contracts';
import { toWireId } from '@svc/domain';
import { createLogger, newId, systemClock } from '@svc/runtime';
import type { TenantCredentials } from '@svc/store';
import { type RawResponse, sendSigned, type SignedRequest, waitUntil } from '@svc/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from './app.ts';
import { json } from './http/answer.ts';
import type { Endpoint } from './http/endpoint.ts';
import { type HttpServer, startHttpServer } from './http/http-server.ts';

const tenantUuid = newId();
const tenantId = toWireId('tnt', tenantUuid);
const secret = 'hsk_test_secret';
const credentials: TenantCredentials = {
  tenantId: tenantUuid,
  disabled: false,
  allowedJobTypes: [],
  hmacSecrets: [secret],
  rateLimitPerSecond: 1,
  rateLimitBurst: 1,
};

/** Answers that the tests let go one by one. */
let release = (): void => {};
const endpoints: Endpoint[] = [
  {
    access: 'tenant',
    method: 'post',
    path: '/v1/things',
    parameters: ['known'],
    handle: async ({ body }) => await Promise.resolve(json(201, { bytes: body.length })),
  },
  {
    access: 'tenant',
    method: 'get',
    path: '/v1/things/:id',
    parameters: [],
    async handle({ id }) {
      if (id === 'broken') throw new Error('secret internals');
      if (id === 'no-database') throw new Error('connect ECONNREFUSED 127.0.0.1:5432');
      return json(200, { id });
    },
  },
  {
    access: 'open',
    method: 'get',
    path: '/slow',
    async handle() {
      await new Promise<void>((resolve) => (release = resolve));
      return json(200, { slow: true });
    },
  },
  {
    access: 'open',
    method: 'get',
    path: '/open',
    handle: async () => await Promise.resolve(json(200, { open: true })),
  },
];

const logger = createLogger({ service: 'gateway', level: 'silent' });
const validateProblem = compileSchema(Problem);
let server: HttpServer;
let baseUrl: string;

const findCredentials = async (id: string) =>
  await Promise.resolve(id === tenantUuid ? credentials : null);

async function start(): Promise<HttpServer> {
  const listener = createApp({ endpoints, findCredentials, newId, clock: systemClock, logger });
  const timeouts = { headersMs: 300, requestMs: 600, checkEveryMs: 50 };
  return startHttpServer({ host: '127.0.0.1', port: 0, listener, newId, logger, timeouts });
}

beforeAll(async () => {
  server = await start();
  baseUrl = `http://127.0.0.1:${server.port}`;
});
afterAll(() => server.close());

const send = (request: Partial<SignedRequest> & { target: string }) =>
  sendSigned({ baseUrl, method: 'GET', tenantId, secret, ...request });

/** Everything that comes back on a connection until it closes. */
async function sendBytes(...chunks: (string | Buffer)[]): Promise<string> {
  return await sendBytesTo(server.port, ...chunks);
}

async function sendBytesTo(port: number, ...chunks: (string | Buffer)[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  socket.on('error', () => {});
  await once(socket, 'connect');
  for (const chunk of chunks) socket.write(chunk);
  await once(socket, 'close');
  return Buffer.concat(received).toString('utf8');
}

/** The code of a problem answer, which must be one to the letter. */
function codeOf(response: RawResponse): string {
  const validation = validateProblem(response.json());
  if (validation.kind === 'invalid') throw new Error(JSON.stringify(validation.errors));
  const { code, status, requestId } = validation.value;
  expect(response.headers['content-type']).toBe('application/problem+json');
  expect([status, requestId]).toEqual([response.status, response.headers['x-request-id']]);
  return code;
}

/** The same of an answer that was read from the socket. */
function rawCodeOf(text: string): string {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const headers = head.split('\r\n').map((line) => line.split(': '));
  return codeOf({
    status: Number(head.split(' ')[1]),
    headers: Object.fromEntries(
      headers.map(([name = '', value = '']) => [name.toLowerCase(), value]),
    ),
    text: body,
    json: () => JSON.parse(body),
  });
}

describe('routes and methods come before authentication', () => {
  test.each(['/', '/v1', '/v1/thing', '/v1/things/', '/V1/things', '/v1/things/a/b', '//open'])(
    '%s is not found, unsigned',
    async (target) => {
      expect(codeOf(await sendSigned({ baseUrl, method: 'GET', target }))).toBe('not_found');
    },
  );

  test.each([
    ['PUT', '/v1/things', 'POST'],
    ['OPTIONS', '/v1/things', 'POST'],
    ['GET', '/v1/things', 'POST'],
    ['DELETE', '/v1/things/a', 'GET, HEAD'],
    ['POST', '/open', 'GET, HEAD'],
  ])('%s %s is answered 405 with Allow', async (method, target, allow) => {
    const response = await sendSigned({ baseUrl, method, target });
    expect(codeOf(response)).toBe('method_not_allowed');
    expect(response.headers['allow']).toBe(allow);
  });

  test('an unknown route says nothing of the path', async () => {
    const answers = await Promise.all(
      ['/v1/secret-path', '/other'].map(async (target) => {
        const response = await send({ target, headers: { 'x-request-id': 'same' } });
        return response.text;
      }),
    );
    expect(answers[0]).toBe(answers[1]);
  });

  test('what is open needs no signature, and HEAD has no body', async () => {
    const response = await sendSigned({ baseUrl, method: 'GET', target: '/open?anything' });
    expect([response.status, response.text]).toEqual([200, '{"open":true}']);
    const head = await sendSigned({ baseUrl, method: 'HEAD', target: '/open' });
    expect([head.status, head.text]).toEqual([200, '']);
  });
});

describe('the order of the checks', () => {
  const big = Buffer.alloc(256 * 1024 + 1, 0x20);
  const post = { method: 'POST', target: '/v1/things' };

  test('an unparsable path comes before the route', async () => {
    expect(codeOf(await send({ target: '/nowhere/%zz' }))).toBe('bad_request');
    expect(codeOf(await send({ target: '/nowhere/%ff' }))).toBe('bad_request');
  });

  test('the route comes before the size', async () => {
    expect(codeOf(await send({ method: 'POST', target: '/nowhere', body: big }))).toBe('not_found');
  });

  test('the size comes before the signature, declared or not', async () => {
    const unsigned = { baseUrl, ...post, body: big };
    expect(codeOf(await sendSigned(unsigned))).toBe('payload_too_large');
    const headers = { 'content-length': undefined, 'transfer-encoding': 'chunked' };
    expect(codeOf(await sendSigned({ ...unsigned, headers }))).toBe('payload_too_large');
  });

  test('256 KiB are not too large', async () => {
    const response = await send({ ...post, body: big.subarray(1) });
    expect(response.json()).toEqual({ bytes: 256 * 1024 });
  });

  test('the signature comes before the query', async () => {
    expect(codeOf(await sendSigned({ baseUrl, ...post, target: '/v1/things?x' }))).toBe(
      'unauthenticated',
    );
    expect(codeOf(await send({ ...post, target: '/v1/things?x=1&known=2' }))).toBe(
      'validation_error',
    );
    expect((await send({ ...post, target: '/v1/things?known=2' })).status).toBe(201);
  });

  test('an unauthenticated answer names the scheme', async () => {
    const response = await send({ ...post, secret: 'hsk_test_other' });
    expect(codeOf(response)).toBe('unauthenticated');
    expect(response.headers['www-authenticate']).toBe('SVC1-HMAC-SHA256');
  });
});

describe('errors', () => {
  test('a defect tells nothing of itself', async () => {
    const response = await send({ target: '/v1/things/broken' });
    expect(codeOf(response)).toBe('internal_error');
    expect(response.text).not.toContain('secret');
  });

  test('a dead database is 503 with a time to come again', async () => {
    const response = await send({ target: '/v1/things/no-database' });
    expect(codeOf(response)).toBe('unavailable');
    expect(response.headers['retry-after']).toBe('1');
    expect(response.json()).toMatchObject({ retryAfterSeconds: 1 });
  });
});

describe('every response', () => {
  test('carries the request id it came with, where that is acceptable', async () => {
    const kept = await send({ target: '/v1/things/a', headers: { 'x-request-id': 'My.id_1-2' } });
    expect(kept.headers['x-request-id']).toBe('My.id_1-2');
    const replaced = await send({ target: '/v1/things/a', headers: { 'x-request-id': 'a b' } });
    expect(replaced.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('is not to be cached, sniffed or framed, and does not name its software', async () => {
    const { headers } = await send({ target: '/v1/things/a' });
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['x-powered-by']).toBeUndefined();
    expect(headers['content-type']).toBe('application/json');
  });
});

describe('what is no proper request gets a problem document all the same', () => {
  test.each([
    ['garbage', 'nonsense\r\n\r\n'],
    ['an unknown method', 'BREW /open HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['no host', 'GET /open HTTP/1.1\r\nconnection: close\r\n\r\n'],
    ['a path of raw bytes', 'GET /\xff HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'],
    [
      'a bad chunk',
      'POST /v1/things HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    ],
    [
      'two lengths',
      'POST /v1/things HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
    ],
  ])('%s: 400', async (_name, bytes) => {
    expect(rawCodeOf(await sendBytes(Buffer.from(bytes, 'latin1')))).toBe('bad_request');
  });

  test('headers over 16 KiB: 431', async () => {
    const text = await sendBytes(
      `GET /open HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(17_000)}\r\n\r\n`,
    );
    expect(rawCodeOf(text)).toBe('headers_too_large');
  });

  test('headers that do not end: 408', async () => {
    expect(rawCodeOf(await sendBytes('GET /open HTTP/1.1\r\nhost: x\r\n'))).toBe('request_timeout');
  });

  test('a body that does not end: 408', async () => {
    const head = 'POST /v1/things HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n';
    expect(rawCodeOf(await sendBytes(head, 'abc'))).toBe('request_timeout');
  });

  test('CONNECT: 404', async () => {
    expect(rawCodeOf(await sendBytes('CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n'))).toBe('not_found');
  });

  test('garbage behind a request that is still at work does not cost it its answer', async () => {
    const request = 'GET /open HTTP/1.1\r\nhost: x\r\n\r\n';
    const text = await sendBytes(`${request}garbage garbage\r\n\r\n`);
    expect(text).toContain('{"open":true}');
  });

  test('a client that waits for 100 Continue is told to go on, or gets the final answer', async () => {
    const head = 'host: x\r\nexpect: 100-continue\r\nconnection: close\r\n';
    const large = `POST /v1/things HTTP/1.1\r\n${head}content-length: 999999\r\n\r\n`;
    expect(rawCodeOf(await sendBytes(large))).toBe('payload_too_large');
    const small = `POST /v1/things HTTP/1.1\r\n${head}content-length: 2\r\n\r\n`;
    const text = await sendBytes(small, '{}');
    expect(text.startsWith('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 401')).toBe(true);
  });
});

test('a client that goes away in the middle of its body leaves the server at work', async () => {
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('POST /v1/things HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc');
  socket.destroy();
  await once(socket, 'close');
  expect((await send({ target: '/v1/things/a' })).status).toBe(200);
});

test('closing lets what runs finish, keeps no connection alive and takes nothing new', async () => {
  const closing = await start();
  const before = release;
  const slow = sendBytesTo(closing.port, 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n');
  await waitUntil(() => release !== before, { what: 'the handler' });
  const closed = closing.close();
  const late = { baseUrl: `http://127.0.0.1:${closing.port}`, method: 'GET', target: '/open' };
  await expect(sendSigned(late)).rejects.toThrow('ECONNREFUSED');
  release();
  await closed;
  expect(await slow).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close[\s\S]*\{"slow":true\}$/i);
});
