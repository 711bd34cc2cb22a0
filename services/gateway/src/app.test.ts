import { toWireId } from '@svc/domain';
import {
  createFailureLimit,
  newId,
  noTrustedProxies,
  parseTrustedProxies,
  systemClock,
} from '@svc/runtime';
import { sendSigned, type SignedRequest, waitUntil } from '@svc/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf, control, observed, operatorUuid, sendTo, startApp } from './app.fixture.ts';
import type { HttpServer } from './http/http-server.ts';

let server: HttpServer;
let baseUrl: string;
beforeAll(async () => {
  server = await startApp();
  baseUrl = `http://127.0.0.1:${server.port}`;
});
afterAll(() => server.close());

const send = (request: Partial<SignedRequest> & { target: string }) => sendTo(server, request);

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

  test('the answer for an unknown route does not repeat the path', async () => {
    const answers = await Promise.all(
      ['/v1/secret-path', '/other'].map(async (target) => {
        const response = await send({ target, headers: { 'x-request-id': 'same' } });
        return response.text;
      }),
    );
    expect(answers[0]).toBe(answers[1]);
  });

  test('an open endpoint needs no signature, and HEAD returns no body', async () => {
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

  test('a body of 256 KiB is accepted', async () => {
    const response = await send({ ...post, body: big.subarray(1) });
    expect(response.json()).toEqual({ bytes: 256 * 1024 });
  });

  test('the method comes before the size', async () => {
    const wrong = { method: 'PUT', target: '/v1/things', body: big };
    expect(codeOf(await send(wrong))).toBe('method_not_allowed');
  });

  test('the signature comes before the rate limit, the rate limit before the query', async () => {
    control.allowed = false;
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
    control.allowed = true;
  });

  test('the rate limit comes before the check for an operator', async () => {
    control.allowed = false;
    const operation = { method: 'POST', target: '/v1/operations' };
    expect(codeOf(await send(operation))).toBe('rate_limited');
    control.allowed = true;
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
  test('are in the headers of every answer to it, errors included, and of no other', async () => {
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

  test('can call its endpoint with its key; a tenant’s key gets operator_only', async () => {
    const response = await send({ ...operation, ...key });
    expect([response.status, response.json()]).toEqual([200, { id: operatorUuid }]);
    expect(response.headers).not.toHaveProperty('ratelimit');
    expect(codeOf(await send(operation))).toBe('operator_only');
  });

  test('cannot call a tenant’s endpoint', async () => {
    expect(codeOf(await send({ target: '/v1/things/a', ...key }))).toBe('unauthenticated');
  });
});

const forge = async (baseUrlOf: string, headers = {}) =>
  codeOf(
    await send({
      baseUrl: baseUrlOf,
      target: '/v1/things/a',
      tenantId: toWireId('tnt', newId()),
      headers,
    }),
  );

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
  test('stops forged requests, and never a correctly signed one', async () => {
    const limited = await startApp({ failures: failures() });
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

  test('uses the forwarded address only if the proxy is trusted', async () => {
    const behind = await startApp({
      failures: failures(),
      proxies: parseTrustedProxies('loopback') ?? noTrustedProxies,
    });
    const bare = await startApp({ failures: failures() });
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
  test('an internal error reveals no details', async () => {
    const response = await send({ target: '/v1/things/broken' });
    expect(codeOf(response)).toBe('internal_error');
    expect(response.text).not.toContain('secret');
  });

  test('an unreachable database is 503 with Retry-After', async () => {
    const response = await send({ target: '/v1/things/no-database' });
    expect(codeOf(response)).toBe('unavailable');
    expect(response.headers['retry-after']).toBe('1');
    expect(response.json()).toMatchObject({ retryAfterSeconds: 1 });
  });
});

describe('every response', () => {
  test('keeps a valid incoming request id and replaces any other', async () => {
    const kept = await send({ target: '/v1/things/a', headers: { 'x-request-id': 'My.id_1-2' } });
    expect(kept.headers['x-request-id']).toBe('My.id_1-2');
    const replaced = await send({ target: '/v1/things/a', headers: { 'x-request-id': 'a b' } });
    expect(replaced.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('must not be cached, sniffed or framed, and does not name its software', async () => {
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
