import type { RawResponse } from '@svc/testkit';
import { beforeEach, describe, expect, test } from 'vitest';
import { payload, refusalOf, submission } from '../answers.fixture.ts';
import { type TestTenant, useGateways } from '../gateway.fixture.ts';

/**
 * Tests the order of the checks in CONTRACT 3. If a request fails several checks, the first of
 * these checks must decide the answer.
 */

const gateways = await useGateways();
beforeEach(() => {
  gateways.dispatching = 'reject';
});

const target = '/v1/submissions';
const large = Buffer.alloc(256 * 1024 + 1, 0x20);

type Send = Parameters<TestTenant['send']>[0];
async function refusal(tenant: TestTenant, request: Partial<Send>): Promise<string> {
  const response: RawResponse = await tenant.send({ method: 'POST', target, ...request });
  return refusalOf(response);
}

async function exhausted(): Promise<TestTenant> {
  const tenant = await gateways.tenant();
  await gateways.database.query(
    'UPDATE tenants SET rate_limit_per_second = 1, rate_limit_burst = 1 WHERE id = $1',
    [tenant.uuid],
  );
  // This request takes the only token, and the gateway refuses its query at once. The test's next
  // request comes within a second, so the bucket is still empty.
  expect((await tenant.send({ target: `${target}?unknown=1` })).status).toBe(422);
  return tenant;
}

/** A tenant for which `instant` has no price. */
async function priced(credits: number): Promise<TestTenant> {
  const tenant = await gateways.tenant({ credits });
  await gateways.database.query(
    `INSERT INTO rate_cards (tenant_id, card, created_at)
     SELECT $1, jsonb_set(card, '{jobTypes,0,tiers}', (card #> '{jobTypes,0,tiers}') - 'instant'), svc_now()
     FROM rate_cards WHERE tenant_id IS NULL ORDER BY version DESC LIMIT 1`,
    [tenant.uuid],
  );
  return tenant;
}

describe('before the body', () => {
  test('unparsable, then the route, the method, the size, the signature', async () => {
    const tenant = await gateways.tenant();
    const nowhere = { target: '/nowhere/%ff', body: large };
    expect(await refusal(tenant, nowhere)).toBe('400 bad_request');
    expect(await refusal(tenant, { target: '/nowhere', body: large })).toBe('404 not_found');
    expect(await refusal(tenant, { method: 'PUT', body: large })).toBe('405 method_not_allowed');
    const forged = { secret: 'hsk_test_forged', body: large };
    expect(await refusal(tenant, forged)).toBe('413 payload_too_large');
  });

  test('the signature, then the rate limit, then the query', async () => {
    const tenant = await exhausted();
    const query = { target: `${target}?unknown=1` };
    const forged = { ...query, secret: 'hsk_test_forged' };
    expect(await refusal(tenant, forged)).toBe('401 unauthenticated');
    expect(await refusal(tenant, query)).toBe('429 rate_limited');
  });

  test('the query, then the media type, then JSON', async () => {
    const tenant = await gateways.tenant();
    const xml = { body: '<a/>', headers: { 'content-type': 'application/xml' } };
    const query = { ...xml, target: `${target}?unknown=1` };
    expect(await refusal(tenant, query)).toBe('422 validation_error unknown');
    expect(await refusal(tenant, xml)).toBe('415 unsupported_media_type');
  });
});

describe('in the body', () => {
  test('at most 10,000 values are read, and each full 1,000 take a token', async () => {
    const tenant = await gateways.tenant();
    await gateways.database.query(
      'UPDATE tenants SET rate_limit_per_second = 1, rate_limit_burst = 100 WHERE id = $1',
      [tenant.uuid],
    );
    const left = async (body: string) => {
      const answer = await tenant.send({ method: 'POST', target: '/v1/quotes', body });
      const rate = answer.headers['ratelimit'];
      const tokens = Number(/r=(\d+)/.exec(String(rate))?.[1]);
      return { tokens, text: answer.text };
    };
    const full = (await left('{}')).tokens;
    const many = await left(`{"a":[${'0,'.repeat(9_997)}0]}`);
    expect(many.text).not.toContain('too many values');
    expect(full - many.tokens).toBeGreaterThanOrEqual(10);
    expect(full - many.tokens).toBeLessThanOrEqual(11);
    const more = await left(`{"a":[${'0,'.repeat(9_998)}0]}`);
    expect(JSON.parse(more.text)).toMatchObject({ code: 'validation_error' });
    expect(more.text).toContain('too many values');
    const few = await left(`{"a":[${'0,'.repeat(900)}0]}`);
    expect(more.tokens - few.tokens).toBeLessThanOrEqual(1);
  });

  test('JSON, then the key', async () => {
    const tenant = await gateways.tenant();
    const unreadable = await tenant.send({ method: 'POST', target, body: '{"idempotencyKey":7,' });
    expect(unreadable.json()).toMatchObject({ errors: [{ path: '', keyword: 'json' }] });
  });

  test('the key, then the look-up: an invalid key is not looked up', async () => {
    const tenant = await gateways.tenant();
    gateways.dispatching = 'accept';
    await tenant.send({ method: 'POST', target, body: submission('7') });
    const body = submission('7', { idempotencyKey: 7, tier: 'turbo' });
    expect(await refusal(tenant, { body })).toBe('422 validation_error /idempotencyKey');
  });

  test('the look-up, then the envelope', async () => {
    const tenant = await gateways.tenant();
    gateways.dispatching = 'accept';
    await tenant.send({ method: 'POST', target, body: submission('a') });
    const body = submission('a', { teir: 'instant' });
    expect(await refusal(tenant, { body })).toBe('409 idempotency_key_conflict');
  });

  test('the envelope, the job type, the allowlist, the tier, the payload', async () => {
    const tenant = await gateways.tenant({ jobTypes: [] });
    const wrong = { jobType: 'no.such', tier: 'turbo', payload: {} };
    const envelope = { body: submission('a', { ...wrong, teir: 'instant' }) };
    expect(await refusal(tenant, envelope)).toBe('422 validation_error /teir');
    expect(await refusal(tenant, { body: submission('a', wrong) })).toBe('422 unknown_job_type');
    const known = { ...wrong, jobType: 'ats.application' };
    expect(await refusal(tenant, { body: submission('a', known) })).toBe(
      '403 job_type_not_allowed',
    );
    const allowed = await gateways.tenant();
    expect(await refusal(allowed, { body: submission('a', known) })).toBe('422 unknown_tier');
  });
});

describe('after the body', () => {
  test('the payload, then the price', async () => {
    const tenant = await priced(0);
    const unpriced = { tier: 'instant', payload: { ...payload, atsType: '' } };
    expect(await refusal(tenant, { body: submission('a', unpriced) })).toBe(
      '422 validation_error /payload/atsType',
    );
  });

  test('the price, then the hold', async () => {
    const tenant = await priced(0);
    const body = submission('a', { tier: 'instant' });
    expect(await refusal(tenant, { body })).toBe('422 quote_failed');
    expect(await refusal(tenant, { body: submission('a') })).toBe('402 insufficient_credits');
  });

  test('the hold, then the dispatch', async () => {
    const poor = await gateways.tenant({ credits: 199 });
    expect(await refusal(poor, { body: submission('a') })).toBe('402 insufficient_credits');
    const rich = await gateways.tenant();
    expect(await refusal(rich, { body: submission('a') })).toBe('503 dispatch_unavailable');
  });
});
