import type { TenantCredentials } from '@svc/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { job } from '../support/job.ts';
import { startWholeStack, type WholeStack } from '../support/whole-stack.ts';
import { signatureHeaders, signedBy, type WireRequest } from '../support/wire.ts';

/** CONTRACT 3 over HTTP: the order of the checks, idempotency, the answer and validation. */

let whole: WholeStack;
let rich: TenantCredentials;
let poor: TenantCredentials;
let barred: TenantCredentials;

beforeAll(async () => {
  whole = await startWholeStack({
    pilot: {
      answer: (offer) => (offer.targetHost === 'declined.example.com' ? 'decline' : 'accept'),
      outcome: () => undefined,
    },
  });
  rich = await whole.tenant({ grantCredits: 1_000_000 });
  poor = await whole.tenant({ grantCredits: 199 });
  barred = await whole.tenant({ allow: [] });
});
afterAll(() => whole.close());

let count = 0;
const freshKey = () => `key-${(count += 1)}`;
const post = (body: WireRequest['body'], headers = {}): WireRequest => ({
  method: 'POST',
  target: '/v1/submissions',
  ...(body === undefined ? {} : { body }),
  headers,
});
const create = (body: WireRequest['body'], tenant = rich) => whole.askAs(tenant, post(body));

const broken = '{"idempotencyKey":';
const elsewhere = { ...job('').payload, applicationUrl: 'http://10.0.0.1/apply' };
const declined = { ...job('').payload, applicationUrl: 'https://declined.example.com/apply' };
const xml = { 'content-type': 'application/xml' };
const tooLarge = ' '.repeat(256 * 1024 + 1);
const stale = (body: WireRequest['body']) => {
  const wire = post(body);
  const signer = { id: rich.tenantId, secret: rich.hmacSecret };
  return { ...wire, headers: signatureHeaders(signer, wire, Math.floor(Date.now() / 1000) - 301) };
};
const asRich = (wire: WireRequest) => signedBy(rich, wire);
const at = (target: string, wire: WireRequest): WireRequest => ({ ...wire, target });

/**
 * Each request except the last one fails at least two checks. The answer must come from the first
 * check that fails.
 */
const neighbours: readonly [string, number, string, () => WireRequest][] = [
  ['unparsable before route', 400, 'bad_request', () => at('/nowhere/%zz', post(job(freshKey())))],
  ['route before size', 404, 'not_found', () => at('/v1/nowhere', post(tooLarge))],
  [
    'method before size',
    405,
    'method_not_allowed',
    () => ({ ...post(tooLarge), method: 'DELETE' }),
  ],
  ['size before signature', 413, 'payload_too_large', () => stale(tooLarge)],
  [
    'signature before query',
    401,
    'unauthenticated',
    () => at('/v1/submissions?dry=1', stale(job('k'))),
  ],
  [
    'query before media type',
    422,
    'validation_error',
    () => asRich(at('/v1/submissions?dry=1', post('x', xml))),
  ],
  ['media type before JSON', 415, 'unsupported_media_type', () => asRich(post(broken, xml))],
  ['JSON before key', 422, 'validation_error', () => asRich(post(broken))],
  [
    'key before envelope',
    422,
    'validation_error',
    () => asRich(post({ idempotencyKey: '', extra: 1 })),
  ],
  [
    'envelope before job type',
    422,
    'validation_error',
    () => asRich(post(job(freshKey(), { jobType: 'no.such', extra: 1 }))),
  ],
  [
    'job type before allowlist',
    422,
    'unknown_job_type',
    () => signedBy(barred, post(job(freshKey(), { jobType: 'no.such' }))),
  ],
  [
    'allowlist before tier',
    403,
    'job_type_not_allowed',
    () => signedBy(barred, post(job(freshKey(), { tier: 'gold' }))),
  ],
  [
    'tier before payload',
    422,
    'unknown_tier',
    () => asRich(post(job(freshKey(), { tier: 'gold', payload: {} }))),
  ],
  [
    'payload before hold',
    422,
    'validation_error',
    () => signedBy(poor, post(job(freshKey(), { payload: elsewhere }))),
  ],
  [
    'hold before dispatch',
    402,
    'insufficient_credits',
    () => signedBy(poor, post(job(freshKey(), { payload: declined }))),
  ],
  [
    'no node accepts',
    503,
    'dispatch_unavailable',
    () => asRich(post(job(freshKey(), { payload: declined }))),
  ],
];

describe('the first check that fails is the answer', () => {
  test.each(neighbours)('%s: %i %s', async (_name, status, code, wire) => {
    const answer = await whole.ask(wire());
    expect([answer.status, answer.body['code']]).toEqual([status, code]);
  });

  test('a malformed key next to an unknown member is reported alone', async () => {
    const { body } = await create({ idempotencyKey: '', extra: 1 });
    expect(body['errors']).toEqual([expect.objectContaining({ path: '/idempotencyKey' })]);
  });

  test('an idempotency look-up comes before the envelope: a used key conflicts', async () => {
    const key = freshKey();
    expect((await create(job(key))).status).toBe(201);
    const conflict = await create(job(key, { extra: 1 }));
    expect([conflict.status, conflict.body['code']]).toEqual([409, 'idempotency_key_conflict']);
  });

  test('the signature comes before the rate limit, and that before the query', async () => {
    const slow = await whole.tenant({ name: 'One at a time' });
    await whole.stack.query(`UPDATE tenants SET rate_limit_per_second = 1, rate_limit_burst = 1
      WHERE name = 'One at a time'`);
    const target = '/v1/submissions?dry=1';
    const codes = async (wire: WireRequest) => {
      const answers = await Promise.all([whole.ask(wire), whole.ask(wire), whole.ask(wire)]);
      return answers.map(({ body }) => body['code']);
    };
    expect(await codes(signedBy(slow, at(target, post(job('k')))))).toContain('rate_limited');
    const forged = signedBy({ ...slow, hmacSecret: poor.hmacSecret }, at(target, post(job('k'))));
    expect(new Set(await codes(forged))).toEqual(new Set(['unauthenticated']));
  });

  test('a failed quote is checked after the payload and before the hold', async () => {
    const unpriced = await whole.tenant({ name: 'Without an instant rate', grantCredits: 0 });
    await whole.stack.query(`INSERT INTO rate_cards (tenant_id, card, created_at)
      SELECT t.id, c.card #- '{jobTypes,0,tiers,instant}', now() FROM tenants t, rate_cards c
      WHERE t.name = 'Without an instant rate'`);
    const { status, body } = await create(job(freshKey(), { tier: 'instant' }), unpriced);
    expect([status, body['code']]).toEqual([422, 'quote_failed']);
    const both = await create(job(freshKey(), { tier: 'instant', payload: elsewhere }), unpriced);
    expect([both.status, both.body['code']]).toEqual([422, 'validation_error']);
    expect((await create(job(freshKey()), unpriced)).status).toBe(402);
  });
});

describe('idempotency', () => {
  test('the same body in another spelling gets the same answer, another body conflicts', async () => {
    const key = freshKey();
    const first = await create(job(key));
    expect(first.status).toBe(201);
    const { payload } = job(key);
    const spelled = `{ "payload" : ${JSON.stringify({ ...payload, jobContext: { company: 'Example Works', title: 'Welder' } })},
      "tier": "standard", "jobType": "ats.application", "idempotencyKey": "${key}" }`;
    const again = await create(spelled);
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ ...first.body, idempotent: true });
    expect((await create(job(key, { tier: 'instant' }))).status).toBe(409);
  });

  test('numbers are compared by value, not by spelling', async () => {
    const key = freshKey();
    const text = (number: string) =>
      JSON.stringify(job(key)).replace('"name":', `"age":${number},"name":`);
    expect((await create(text('1e2'))).status).toBe(201);
    expect((await create(text('100.0'))).status).toBe(200);
    expect((await create(text('100.0000000000000000001'))).status).toBe(409);
  });

  test('every error leaves the key free', async () => {
    const key = freshKey();
    expect((await create(job(key, { payload: declined }))).status).toBe(503);
    expect((await create(job(key, { tier: 'gold' }))).status).toBe(422);
    expect((await create(job(key), poor)).status).toBe(402);
    expect((await create(job(key), barred)).status).toBe(403);
    expect((await create(job(key))).status).toBe(201);
  });

  test('keys of two tenants are independent', async () => {
    const other = await whole.tenant();
    const key = freshKey();
    expect((await create(job(key))).status).toBe(201);
    expect((await create(job(key), other)).status).toBe(201);
  });
});

describe('the answer', () => {
  test('the answer has the hold and the available credits after it', async () => {
    const tenant = await whole.tenant({ grantCredits: 1_000 });
    const created = await create(job(freshKey(), { tier: 'instant' }), tenant);
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      submissionId: expect.stringMatching(/^sub_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      status: 'dispatched',
      quote: { estimated: expect.any(Number), max: 500, surge: 1 },
      balance: { after: 500, held: 500 },
    });
  });

  test('can be read and cancelled once, and is then terminal with the same refund', async () => {
    const { body } = await create(job(freshKey()));
    const target = `/v1/submissions/${String(body['submissionId'])}`;
    const read = await whole.askAs(rich, { method: 'GET', target });
    expect(read.body).toMatchObject({
      id: body['submissionId'],
      actualCredits: null,
      failure: null,
    });
    expect(read.body).not.toHaveProperty('payload');
    const cancelled = await whole.askAs(rich, { method: 'POST', target: `${target}/cancel` });
    expect(cancelled.status).toBe(200);
    expect(cancelled.body).toMatchObject({
      status: 'cancelled',
      submissionId: body['submissionId'],
    });
    const again = await whole.askAs(rich, { method: 'POST', target: `${target}/cancel` });
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({
      code: 'terminal_state',
      submissionStatus: 'cancelled',
      refund: cancelled.body['refund'],
    });
  });

  test('402 names the required credits and not the balance', async () => {
    const { body } = await create(job(freshKey()), poor);
    expect(body).toMatchObject({ code: 'insufficient_credits', required: 200 });
    expect(body).not.toHaveProperty('balance');
  });

  test('503 says when to retry, in the header and the body', async () => {
    const answer = await create(job(freshKey(), { payload: declined }));
    expect(answer.headers['retry-after']).toBe(String(answer.body['retryAfterSeconds']));
  });

  test('a quote equals that of the submission and holds no credits', async () => {
    const tenant = await whole.tenant({ grantCredits: 250 });
    const { idempotencyKey: _key, ...body } = job('');
    const quoted = await whole.askAs(tenant, { method: 'POST', target: '/v1/quotes', body });
    expect(quoted.body).toMatchObject({ sufficient: true, available: 250, quote: { max: 200 } });
    const dear = { ...body, tier: 'priority' };
    const more = await whole.askAs(tenant, { method: 'POST', target: '/v1/quotes', body: dear });
    expect(more.body).toMatchObject({ sufficient: false, available: 250, quote: { max: 300 } });
    const balance = await whole.askAs(tenant, { method: 'GET', target: '/v1/credits/balance' });
    expect(balance.body).toEqual({
      balance: 250,
      held: 0,
      available: 250,
      rebateAccrued: 0,
      currency: 'credits',
      usdPerCredit: 0.01,
    });
  });
});

describe('validation', () => {
  test('every violation is listed with its path', async () => {
    const payload = { applicationUrl: 'ftp://example.com', atsType: '', jobContext: { title: 1 } };
    const { status, body } = await create(job(freshKey(), { payload }));
    expect(status).toBe(422);
    const paths = Object.values(Object(body['errors'])).map((error) => String(Object(error).path));
    expect(new Set(paths)).toEqual(
      new Set([
        '/payload/applicantProfile',
        '/payload/applicationUrl',
        '/payload/atsType',
        '/payload/jobContext/company',
        '/payload/jobContext/title',
      ]),
    );
  });

  test('at most twenty violations are listed', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`x${index}`, 1]));
    const { body } = await create(job(freshKey(), { payload: { ...job('').payload, ...unknown } }));
    expect(body['errors']).toHaveLength(20);
  });

  test.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://[::ffff:10.0.0.1]/',
    'http://[::1]/',
    'http://10.1.2.3./',
    'http://LOCALHOST/',
    'http://printer/',
    'http://nas.local/',
    'http://a.home.arpa/',
    'http://x.internal/',
    'http://169.254.169.254/',
    'http://224.0.0.1/',
    'http://user:pw@example.com/',
    'javascript:alert(1)',
    'https://',
    'http://①②⑦.0.0.1/',
  ])('an applicationUrl that is not public is refused: %s', async (applicationUrl) => {
    const payload = { ...job('').payload, applicationUrl };
    const { status, body } = await create(job(freshKey(), { payload }));
    expect(status).toBe(422);
    expect(body['errors']).toEqual([
      expect.objectContaining({ path: '/payload/applicationUrl', keyword: 'format' }),
    ]);
  });

  test.each([
    'https://bücher.example/apply',
    'https://xn--bcher-kva.example/',
    'HTTP://JOBS.EXAMPLE.COM:8443/a?b#c',
  ])('a public applicationUrl is accepted: %s', async (applicationUrl) => {
    const payload = { ...job('').payload, applicationUrl };
    expect((await create(job(freshKey(), { payload }))).status).toBe(201);
  });

  test.each([
    ['U+0000', '"a\\u0000b"'],
    ['a lone surrogate', '"\\ud800"'],
  ])('%s is refused anywhere', async (_name, text) => {
    const body = JSON.stringify(job(freshKey())).replace('"Ana Pérez"', text);
    const { status, body: problem } = await create(body);
    expect([status, problem['code']]).toEqual([422, 'validation_error']);
  });
});
