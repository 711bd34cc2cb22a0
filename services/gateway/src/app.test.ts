import { once } from 'node:events';
import { connect } from 'node:net';
import { compileSchema, NoQuery, Problem } from '@svc/contracts';
import { toWireId } from '@svc/domain';
import { createLogger, newId, systemClock } from '@svc/runtime';
import type { OperatorCredentials, TenantCredentials } from '@svc/store';
import { type RawResponse, sendSigned, type SignedRequest, waitUntil } from '@svc/testkit';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AppOptions, createApp } from './app.ts';
import type { Keys } from './authenticate.ts';
import { json } from './http/answer.ts';
import { createFailureLimit } from './failure-limit.ts';
import { type Endpoint, operatorEndpoint, tenantEndpoint } from './http/endpoint.ts';
import { type HttpServer, startHttpServer } from './http/http-server.ts';

const tenantUuid = newId();
const tenantId = toWireId('tnt', tenantUuid);
const secret = 'hsk_test_secret';
const credentials: TenantCredentials = {
  tenantId: tenantUuid,
  disabled: false,
  allowedJobTypes: [],
  hmacSecrets: [secret],
  rateLimitPerSecond: 4,
  rateLimitBurst: 10,
  rateCardVersion: 1,
};

/** Answers that the tests let go one by one. */
let release = (): void => {};
const endpoints: Endpoint[] = [
  tenantEndpoint({
    method: 'post',
    path: '/v1/things',
    query: Type.Object({ known: Type.Optional(Type.String()) }, { additionalProperties: false }),
    handle: async ({ body }) => await Promise.resolve(json(201, { bytes: body.length })),
  }),
  tenantEndpoint({
    method: 'patch',
    path: '/v1/things',
    query: NoQuery,
    handle: async () => await Promise.resolve(json(200, {})),
  }),
  operatorEndpoint({
    method: 'post',
    path: '/v1/operations',
    query: NoQuery,
    handle: async ({ operator }) => await Promise.resolve(json(200, { id: operator.operatorId })),
  }),
  tenantEndpoint({
    method: 'get',
    path: '/v1/things/:id',
    query: NoQuery,
    async handle({ id }) {
      if (id === 'broken') throw new Error('secret internals');
      if (id === 'no-database') throw new Error('connect ECONNREFUSED 127.0.0.1:5432');
      return json(200, { id });
    },
  }),
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

const operatorUuid = newId();
const operator: OperatorCredentials = {
  operatorId: operatorUuid,
  disabled: false,
  secret: 'osk_1',
};
const keys: Keys = {
  tenant: async (id) => await Promise.resolve(id === tenantUuid ? credentials : null),
  operator: async (id) => await Promise.resolve(id === operatorUuid ? operator : null),
};

/** Whether the next requests of the tenant are within its limit. */
let allowed = true;
const limiter = {
  take: async () =>
    await Promise.resolve({ allowed, left: 7, fullInMs: 1_200, retryInMs: allowed ? 0 : 2_001 }),
};
const observed: string[] = [];

async function start(options: Partial<AppOptions> = {}): Promise<HttpServer> {
  const listener = createApp({
    endpoints,
    keys,
    limiter,
    failures: createFailureLimit({ clock: systemClock }),
    observe: ({ route, status }) => observed.push(`${route} ${status}`),
    newId,
    clock: systemClock,
    logger,
    ...options,
  });
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
    ['PUT', '/v1/things', 'POST, PATCH'],
    ['OPTIONS', '/v1/things', 'POST, PATCH'],
    ['GET', '/v1/things', 'POST, PATCH'],
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

  test('the method comes before the size', async () => {
    const wrong = { method: 'PUT', target: '/v1/things', body: big };
    expect(codeOf(await send(wrong))).toBe('method_not_allowed');
  });

  test('the signature comes before the rate limit, the rate limit before the query', async () => {
    allowed = false;
    const unknown = { ...post, target: '/v1/things?x' };
    expect(codeOf(await send({ ...unknown, secret: 'hsk_test_other' }))).toBe('unauthenticated');
    const limited = await send(unknown);
    expect(codeOf(limited)).toBe('rate_limited');
    expect(limited.headers).toMatchObject({
      'retry-after': '3',
      'ratelimit-policy': '"tenant";q=10;w=3',
      ratelimit: '"tenant";r=7;t=2',
    });
    expect(limited.json()).toMatchObject({ retryAfterSeconds: 3 });
    allowed = true;
  });

  test('the rate limit comes before who may call', async () => {
    allowed = false;
    const operation = { method: 'POST', target: '/v1/operations' };
    expect(codeOf(await send(operation))).toBe('rate_limited');
    allowed = true;
    expect(codeOf(await send(operation))).toBe('operator_only');
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

describe('the limits of a tenant', () => {
  test('are told on every answer to it, errors included, and to nobody else', async () => {
    for (const target of ['/v1/things/a', '/v1/things/broken', '/v1/things/a?x=1']) {
      const { headers } = await send({ target });
      expect(headers).toMatchObject({
        'ratelimit-policy': '"tenant";q=10;w=3',
        ratelimit: '"tenant";r=7;t=2',
      });
    }
    const forged = await send({ target: '/v1/things/a', secret: 'hsk_test_other' });
    expect(forged.headers).not.toHaveProperty('ratelimit');
  });
});

describe('an operator', () => {
  const operation = { method: 'POST', target: '/v1/operations' };
  const identityHeader = 'X-SVC-Operator';
  const key = { identityHeader, tenantId: toWireId('op', operatorUuid), secret: 'osk_1' };

  test('calls its endpoint with its key; a tenant’s is told that it is none', async () => {
    const response = await send({ ...operation, ...key });
    expect([response.status, response.json()]).toEqual([200, { id: operatorUuid }]);
    expect(response.headers).not.toHaveProperty('ratelimit');
    expect(codeOf(await send(operation))).toBe('operator_only');
  });

  test('is no tenant', async () => {
    expect(codeOf(await send({ target: '/v1/things/a', ...key }))).toBe('unauthenticated');
  });
});

/** The code that a made-up key gets. */
const forge = async (baseUrlOf: string, headers = {}) =>
  codeOf(
    await send({
      baseUrl: baseUrlOf,
      target: '/v1/things/a',
      tenantId: toWireId('tnt', newId()),
      headers,
    }),
  );

/** The code that the last of three made-up keys gets, each said to be from an address of its own. */
const forgeThrice = async ({ port }: HttpServer) => {
  const codes = [];
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) {
    codes.push(await forge(`http://127.0.0.1:${port}`, { 'x-forwarded-for': address }));
  }
  return codes.at(-1);
};

describe('a limit by address', () => {
  const policy = { perSecond: 0.001, burst: 2 };
  const failures = () => createFailureLimit({ clock: systemClock, policy });
  test('stops what is forged, and never who has signed correctly', async () => {
    const limited = await start({ failures: failures() });
    const url = `http://127.0.0.1:${limited.port}`;
    expect((await send({ baseUrl: url, target: '/v1/things/a' })).status).toBe(200);
    const codes = [await forge(url), await forge(url), await forge(url)];
    expect(codes).toEqual(['unauthenticated', 'unauthenticated', 'rate_limited']);
    for (let count = 0; count < 5; count += 1) {
      expect((await send({ baseUrl: url, target: '/v1/things/a' })).status).toBe(200);
    }
    expect((await sendSigned({ baseUrl: url, method: 'GET', target: '/open' })).status).toBe(200);
    await limited.close();
  });

  test('goes by the forwarded address only where the proxy is declared', async () => {
    const behind = await start({ failures: failures(), trustProxy: 'loopback' });
    const bare = await start({ failures: failures() });
    expect(await forgeThrice(behind)).toBe('unauthenticated');
    expect(await forgeThrice(bare)).toBe('rate_limited');
    await Promise.all([behind.close(), bare.close()]);
  });
});

test('requests are counted by the pattern of their route and their status', async () => {
  observed.length = 0;
  await send({ target: '/v1/things/a' });
  await sendSigned({ baseUrl, method: 'GET', target: '/nowhere' });
  await waitUntil(() => observed.length === 2, { what: 'both to be counted' });
  expect(observed).toEqual(['/v1/things/:id 200', 'undefined 404']);
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
    expect(headers).toMatchObject({
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
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
