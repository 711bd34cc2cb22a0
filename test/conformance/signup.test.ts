import { afterAll, beforeAll, expect, test } from 'vitest';
import { job } from '../support/job.ts';
import { startWholeStack, type WholeStack } from '../support/whole-stack.ts';
import { send, type WireAnswer } from '../support/wire.ts';

/** CONTRACT 5, `/signup`: it needs no key, and limits the signups of an IP address per hour. */

const perHour = 3;
let whole: WholeStack;
beforeAll(async () => {
  whole = await startWholeStack({
    env: { SIGNUP_PER_HOUR: `${perHour}`, SIGNUP_IN_FLIGHT_MAX: '2' },
    // The node reports no outcome, so an assigned submission stays in flight until its cancel.
    pilot: { outcome: () => undefined },
  });
});
afterAll(() => whole.close());

const signUp = (body: object | string, headers: Record<string, string> = {}) =>
  whole.ask({ method: 'POST', target: '/signup', body, headers });

const submitForm = (fields: Record<string, string>): Promise<WireAnswer> =>
  send(whole.stack.gatewayUrl, {
    method: 'POST',
    target: '/signup',
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

test('a malformed signup is refused and does not count towards the limit', async () => {
  for (const body of [{}, { name: '' }, { name: 'x'.repeat(129) }, { name: 'a', more: 1 }, '{']) {
    expect(await signUp(body)).toMatchObject({ status: 422, body: { code: 'validation_error' } });
  }
  const url = await signUp({ name: 'a', webhookUrl: 'ftp://example.com/' });
  expect(url).toMatchObject({ status: 422, body: { errors: [{ path: '/webhookUrl' }] } });
  expect(await signUp('name=a', { 'content-type': 'text/plain' })).toMatchObject({ status: 415 });
  const page = await submitForm({ name: '', webhookUrl: '"><b>x' });
  expect(page.status).toBe(422);
  expect(page.text).toContain('&quot;&gt;&lt;b&gt;x');
  expect(page.text).toContain('role="alert"');
  expect(await whole.stack.query('SELECT id FROM tenants')).toEqual([]);
});

test('a body over 8 KiB is refused', async () => {
  const large = await signUp({ name: 'x'.repeat(8 * 1024) });
  expect(large).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
  const fields = Array.from({ length: 40_000 }, (_, index) => `a${index}`).join('&');
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  expect(await signUp(fields, form)).toMatchObject({ status: 413 });
});

test('the page has a form that works without scripts, and loads nothing', async () => {
  const page = await whole.ask({ method: 'GET', target: '/signup' });
  expect(page.status).toBe(200);
  expect(page.headers['content-type']).toContain('text/html');
  expect(page.headers['content-security-policy']).toContain("form-action 'self'");
  expect(page.headers['cache-control']).toBe('no-store');
  expect(page.text).toContain('<form method="post" action="/signup">');
  expect(page.text).not.toContain('<script');
});

test('JSON and the form each create a tenant that can start at once; then the limit applies', async () => {
  const byJson = await signUp({ name: 'Example Works', webhookUrl: 'https://hooks.example.com/' });
  expect(byJson).toMatchObject({
    status: 201,
    body: {
      tenantId: expect.stringMatching(/^tnt_/),
      hmacSecret: expect.stringMatching(/^hsk_test_/),
      webhookSecret: expect.stringMatching(/^whsec_/),
      allowedJobTypes: ['ats.application'],
      balance: 10_000,
    },
  });
  const credentials = {
    tenantId: String(byJson.body['tenantId']),
    hmacSecret: String(byJson.body['hmacSecret']),
    webhookSecret: String(byJson.body['webhookSecret']),
  };
  const balance = await whole.askAs(credentials, { method: 'GET', target: '/v1/credits/balance' });
  expect(balance).toMatchObject({ status: 200, body: { balance: 10_000, held: 0 } });
  const settings = await whole.askAs(credentials, { method: 'GET', target: '/v1/settings' });
  expect(settings.body).toMatchObject({ webhookUrl: 'https://hooks.example.com/' });

  const create = (key: string) =>
    whole.askAs(credentials, { method: 'POST', target: '/v1/submissions', body: job(key) });
  const [one] = [await create('one'), await create('two')];
  const beyond = await create('three');
  expect(beyond).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
  expect(Number(beyond.headers['retry-after'])).toBeGreaterThan(0);
  expect(await create('one')).toMatchObject({ status: 200 });
  const target = `/v1/submissions/${String(one?.body['submissionId'])}/cancel`;
  expect(await whole.askAs(credentials, { method: 'POST', target })).toMatchObject({ status: 200 });
  expect(await create('three')).toMatchObject({ status: 201 });

  const byForm = await submitForm({ name: 'Ana & Sons', webhookUrl: '' });
  expect(byForm.status).toBe(201);
  expect(byForm.text).toMatch(/hsk_test_[\w-]+/);
  expect((await signUp({ name: 'third' })).status).toBe(201);
  // The rate limit has no token left for this address, so the gateway refuses the request before it
  // parses the body.
  expect((await signUp('{')).status).toBe(429);

  const refused = await signUp({ name: 'fourth' });
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(60);
  const page = await submitForm({ name: 'fifth' });
  expect(page.status).toBe(429);
  expect(page.headers['retry-after']).toBeDefined();
  expect(await whole.stack.query('SELECT id FROM tenants')).toHaveLength(perHour);
});
