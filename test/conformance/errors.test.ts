import type { TenantCredentials } from '@svc/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { job } from '../support/job.ts';
import { startWholeStack, type WholeStack } from '../support/whole-stack.ts';
import { sendBytes, signatureHeaders, signedBy, type WireAnswer } from '../support/wire.ts';

/** CONTRACT 1 and 2: authentication, malformed requests, and the parts that all answers share. */

let whole: WholeStack;
let tenant: TenantCredentials;
/**
 * The answer to a request whose headers never end. The answer takes ten seconds, so the request
 * starts before the tests.
 */
let tooSlow: Promise<WireAnswer | undefined>;

beforeAll(async () => {
  whole = await startWholeStack();
  tenant = await whole.tenant();
  tooSlow = sendBytes(whole.stack.gatewayUrl, 'GET /ready HTTP/1.1\r\nHost: a\r\n', {
    keepsOpen: true,
  });
});
afterAll(() => whole.close());

const balance = { method: 'GET', target: '/v1/credits/balance' };
const now = () => Math.floor(Date.now() / 1000);
const idOf = async (value: string) =>
  (await whole.ask({ method: 'GET', target: '/ready', headers: { 'x-request-id': value } }))
    .headers['x-request-id'];
const signer = () => ({ id: tenant.tenantId, secret: tenant.hmacSecret });

describe('authentication', () => {
  test.each([
    ['299 s behind', -299, 200],
    ['exactly 300 s ahead', 300, 200],
    ['302 s behind', -302, 401],
    ['302 s ahead', 302, 401],
  ])('%s', async (_name, offset, status) => {
    const headers = signatureHeaders(signer(), balance, now() + offset);
    expect((await whole.ask({ ...balance, headers })).status).toBe(status);
  });

  test('unknown tenant, wrong signature and malformed id get the same answer', async () => {
    const others = [
      { id: 'tnt_01jd5qz2m8f0gan4c6s1yb7kpe', secret: tenant.hmacSecret },
      { id: tenant.tenantId, secret: `${tenant.hmacSecret}x` },
      { id: tenant.tenantId, secret: tenant.webhookSecret },
      { id: 'nobody', secret: tenant.hmacSecret },
    ];
    const answers = await Promise.all(
      others.map((one) =>
        whole.ask({
          ...balance,
          headers: { ...signatureHeaders(one, balance), 'x-request-id': 'same' },
        }),
      ),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.status).toBe(401);
    expect(answers[0]?.headers['www-authenticate']).toBe('SVC1-HMAC-SHA256');
  });

  test('one valid signature of several is enough; other versions are ignored', async () => {
    const headers = signatureHeaders(signer(), balance);
    const good = headers['X-SVC-Signature'] ?? '';
    const bad = `v1=${'0'.repeat(64)}`;
    const status = async (value: string) =>
      (await whole.ask({ ...balance, headers: { ...headers, 'X-SVC-Signature': value } })).status;
    expect(await status(`v9=zz, ${bad}, ${good}`)).toBe(200);
    expect(await status([bad, bad, bad, good].join(','))).toBe(200);
    expect(await status([bad, bad, bad, bad, good].join(','))).toBe(401);
    expect(await status(good.toUpperCase())).toBe(401);
  });

  test('missing headers and two identities get other details than a wrong signature', async () => {
    const headers = signatureHeaders(signer(), balance);
    const details = await Promise.all(
      [
        { 'X-SVC-Tenant': undefined },
        { 'X-SVC-Timestamp': undefined },
        { 'X-SVC-Timestamp': 'now' },
        { 'X-SVC-Signature': undefined },
        { 'X-SVC-Operator': 'op_01jd5qz2m8f0gan4c6s1yb7kpe' },
      ].map(async (change) => {
        const answer = await whole.ask({ ...balance, headers: { ...headers, ...change } });
        expect(answer.status).toBe(401);
        return answer.body['detail'];
      }),
    );
    expect(new Set(details).size).toBeGreaterThanOrEqual(4);
  });

  test('the signature covers the query as sent, and a body on a GET', async () => {
    const signed = signedBy(tenant, balance);
    expect((await whole.ask({ ...signed, target: `${balance.target}?a=1` })).status).toBe(401);
    expect((await whole.ask({ ...signed, body: 'unsigned' })).status).toBe(401);
    expect((await whole.askAs(tenant, { ...balance, body: 'signed' })).status).toBe(200);
  });

  test('every gateway refuses a disabled tenant within five seconds', async () => {
    const gone = await whole.tenant({ name: 'Gone soon' });
    expect((await whole.askAs(gone, balance)).status).toBe(200);
    expect((await whole.askAs(gone, balance)).status).toBe(200);
    const startedMs = performance.now();
    await whole.stack.query("UPDATE tenants SET disabled_at = now() WHERE name = 'Gone soon'");
    await expect
      .poll(
        async () => {
          const answers = [await whole.askAs(gone, balance), await whole.askAs(gone, balance)];
          return answers.map(({ status }) => status);
        },
        { timeout: 8_000, interval: 100 },
      )
      .toEqual([401, 401]);
    expect(performance.now() - startedMs).toBeLessThan(5_500);
  });
});

describe('every answer', () => {
  test('an acceptable x-request-id is kept, any other is replaced', async () => {
    expect(await idOf('Abc.123_-')).toBe('Abc.123_-');
    expect(await idOf('a'.repeat(128))).toBe('a'.repeat(128));
    for (const refused of ['a'.repeat(129), 'a b', 'a,b', '']) {
      expect(await idOf(refused)).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
      expect(await idOf(refused)).not.toBe(refused);
    }
  });

  test('the type of a problem links to its entry on the page of errors', async () => {
    const { body } = await whole.ask(balance);
    const [path, anchor] = String(body['type']).split('#');
    const page = await whole.ask({ method: 'GET', target: path ?? '' });
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).toContain(`id="${anchor}"`);
  });

  test('the page of errors has every code of the OpenAPI document', async () => {
    const { text } = await whole.ask({ method: 'GET', target: '/docs/errors' });
    for (const code of whole.api.codes) expect(text).toContain(`id="${code}"`);
    expect(whole.api.codes.length).toBeGreaterThan(25);
  });

  test('the pages may load no external resources', async () => {
    for (const target of ['/docs', '/docs/errors', '/docs/changelog', '/docs/guides/money']) {
      const page = await whole.ask({ method: 'GET', target });
      expect(page.headers['content-security-policy']).toMatch(
        /^default-src 'none'; style-src 'sha256-/,
      );
      expect(page.headers['content-security-policy']).not.toContain('unsafe');
      expect(page.text).not.toMatch(/<script|src=/);
    }
  });

  test('HEAD is answered as GET is, without the body', async () => {
    const { status, text, headers } = await whole.ask({ method: 'HEAD', target: '/ready' });
    expect([status, text]).toEqual([200, '']);
    expect(headers['x-request-id']).toBeDefined();
  });
});

describe('malformed and unknown requests', () => {
  test.each([
    ['bytes that are not HTTP', '\x16\x03\x01\x02\0\x01\0\r\n\r\n', 400, 'bad_request'],
    ['a broken request line', 'GET\r\n\r\n', 400, 'bad_request'],
    ['no Host', 'GET /ready HTTP/1.1\r\n\r\n', 400, 'bad_request'],
    [
      'bad percent-encoding',
      'GET /v1/submissions/%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
      400,
      'bad_request',
    ],
    [
      'two content lengths',
      'POST /v1/quotes HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
      400,
      'bad_request',
    ],
    [
      'chunked and a length',
      'POST /v1/quotes HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'bad_request',
    ],
    [
      'headers over 16 KiB',
      `GET /ready HTTP/1.1\r\nHost: a\r\nX-Long: ${'a'.repeat(17_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    ['an unknown method', 'BREW /ready HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'bad_request'],
    [
      'a method that the route does not have',
      'PUT /ready HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
      405,
      'method_not_allowed',
    ],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n', 404, 'not_found'],
    [
      'a declared length over the limit',
      'POST /v1/quotes HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 262145\r\n\r\n',
      413,
      'payload_too_large',
    ],
  ])('%s', async (_name, bytes, status, code) => {
    const answer = await sendBytes(whole.stack.gatewayUrl, bytes, { keepsOpen: true });
    expect(answer?.status).toBe(status);
    expect(answer?.body).toMatchObject({ status, code, type: `/docs/errors#${code}` });
    expect(answer?.headers['content-type']).toBe('application/problem+json');
    expect(answer?.headers['x-request-id']).toBe(answer?.body['requestId']);
  });

  test.each([
    '/',
    '/v1',
    '/v1/',
    '/V1/quotes',
    '/v1/quotes/',
    '/v1//quotes',
    '/docs/',
    '/favicon.ico',
    '/v1/submissions/a/b',
  ])('an unknown route needs no signature: %s', async (target) => {
    const { status, body } = await whole.ask({ method: 'GET', target });
    expect([status, body['code']]).toEqual([404, 'not_found']);
  });

  test('405 lists the allowed methods', async () => {
    const answer = await whole.ask({ method: 'DELETE', target: '/v1/credits/balance' });
    expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET, HEAD']);
  });

  test('an unknown query parameter is named', async () => {
    const { status, body } = await whole.askAs(tenant, {
      method: 'GET',
      target: '/v1/credits/balance?curency=usd',
    });
    expect(status).toBe(422);
    expect(body['errors']).toEqual([expect.objectContaining({ path: '', parameter: 'curency' })]);
  });

  test('a chunked body over 256 KiB gets 413, one of 256 KiB is read', async () => {
    const wire = { method: 'POST', target: '/v1/quotes' };
    const { idempotencyKey: _key, ...quote } = job('');
    const text = JSON.stringify(quote);
    const padded = (bytes: number) => text + ' '.repeat(bytes - Buffer.byteLength(text));
    const full = await whole.askAs(tenant, { ...wire, body: padded(256 * 1024) });
    expect(full.status).toBe(200);
    const over = await whole.askAs(tenant, { ...wire, body: padded(256 * 1024 + 1) });
    expect([over.status, over.body['code']]).toEqual([413, 'payload_too_large']);
  });

  test('headers that do not arrive within ten seconds get 408', async () => {
    const answer = await tooSlow;
    expect([answer?.status, answer?.body['code']]).toEqual([408, 'request_timeout']);
  });
});
