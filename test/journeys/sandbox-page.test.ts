import { readFileSync } from 'node:fs';
import path from 'node:path';
import { errorCodes, eventTypes, leaseMs, nodeFailureCodes } from '@svc/domain';
import { checkoutDir } from '@svc/local';
import {
  createWebhookReceiver,
  startStack,
  type TenantCredentials,
  type TestStack,
  verifyWebhook,
  waitUntil,
  type WebhookReceiver,
} from '@svc/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { job } from '../support/job.ts';
import { send, signedBy, type WireAnswer, type WireRequest } from '../support/wire.ts';

/** Checks that docs/SANDBOX.md is true. */

const page = readFileSync(path.join(checkoutDir, 'docs/SANDBOX.md'), 'utf8');
const submissions = '/v1/submissions';
const largeBodyBytes = 300 * 1024;
const headerBeyond = 'x'.repeat(17 * 1024);
let stack: TestStack;
let receiver: WebhookReceiver;
let tenant: TenantCredentials;
let next = 0;

beforeAll(async () => {
  [stack, receiver] = await Promise.all([
    startStack({ nodes: 4, env: { WEBHOOK_BACKOFF_SECONDS: '1,1', SIGNUP_PER_HOUR: '100' } }),
    createWebhookReceiver(),
  ]);
  tenant = await signUp(receiver.url);
});
afterAll(async () => {
  await stack.close();
  await receiver.close();
});

async function signUp(webhookUrl?: string): Promise<TenantCredentials> {
  const body = { name: 'Page', ...(webhookUrl === undefined ? {} : { webhookUrl }) };
  const answer = await send(stack.gatewayUrl, { method: 'POST', target: '/signup', body });
  const text = (name: string) => String(answer.body[name]);
  return {
    tenantId: text('tenantId'),
    hmacSecret: text('hmacSecret'),
    webhookSecret: text('webhookSecret'),
  };
}

const ask = (wire: WireRequest, who = tenant) => send(stack.gatewayUrl, signedBy(who, wire));
const get = (target: string) => ask({ method: 'GET', target });
const post = (target: string, body?: WireRequest['body'], who = tenant) =>
  ask({ method: 'POST', target, ...(body === undefined ? {} : { body }) }, who);

function application(atsType: string, sandbox?: object, changes: object = {}) {
  const { payload, ...rest } = job(`page-${(next += 1)}`);
  const jobContext = { ...payload.jobContext, ...(sandbox === undefined ? {} : { sandbox }) };
  return { ...rest, payload: { ...payload, atsType, jobContext }, ...changes };
}

async function submit(atsType: string, sandbox?: object, changes?: object): Promise<string> {
  const answer = await post(submissions, application(atsType, sandbox, changes));
  expect(answer).toMatchObject({ status: 201 });
  return `${submissions}/${String(answer.body['submissionId'])}`;
}

async function untilStatus(target: string, status: string): Promise<WireAnswer['body']> {
  await waitUntil(async () => (await get(target)).body['status'] === status, { timeoutMs: 20_000 });
  return (await get(target)).body;
}

async function untilWebhook(target: string, type: string): Promise<void> {
  const id = target.split('/').at(-1);
  const webhook = await receiver.waitFor(
    ({ event }) => event.type === type && (id === '' || event.data['submissionId'] === id),
    { timeoutMs: 20_000 },
  );
  verifyWebhook(webhook, tenant.webhookSecret);
}

function codesUnder(heading: string): string[] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [chapter = ''] = section.split('\n## ');
  return [...chapter.matchAll(/^\| ([^|]+) \|/gm)]
    .map(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? ''))
    .map((codes) => codes.at(-1) ?? '')
    .filter((code) => code !== '');
}

test('the page lists every outcome, event and error, or says that it cannot be triggered', () => {
  for (const code of [...nodeFailureCodes, 'node_lost'])
    expect(codesUnder('Outcomes')).toContain(code);
  expect(codesUnder('Events').toSorted()).toEqual([...eventTypes].toSorted());
  expect(codesUnder('Errors').toSorted()).toEqual(Object.keys(errors).toSorted());
  for (const code of errorCodes) expect(page).toContain(`\`${code}\``);
});

test('submitted, with a charge that the tenant chooses', async () => {
  const target = await submit('sandbox.succeed', { actions: 400 });
  expect(await untilStatus(target, 'submitted')).toMatchObject({ actualCredits: 200 });
  await untilWebhook(target, 'submission.completed');
});

test.each(nodeFailureCodes)('failed, %s', async (code) => {
  const sandbox = code === 'ats_rejected' ? undefined : { failure: code };
  const target = await submit('sandbox.fail', sandbox);
  expect(await untilStatus(target, 'failed')).toMatchObject({
    failure: {
      code,
      retriable: code === 'site_unreachable',
      outcomeUnknown: code === 'node_error',
    },
  });
  await untilWebhook(target, 'submission.failed');
});

test('cancelled, and an outcome that comes late', async () => {
  const target = await submit('sandbox.slow', { ignoresCancel: true });
  await untilStatus(target, 'running');
  const cancelled = await post(`${target}/cancel`);
  expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  await untilWebhook(target, 'submission.cancelled');
  await untilWebhook(target, 'submission.late_outcome');
  const { lateOutcome } = Object((await get(target)).body);
  expect(lateOutcome).toMatchObject({ status: 'submitted' });
});

test('low balance, test event, and redelivery of a refused event', async () => {
  const patched = await ask({
    method: 'PATCH',
    target: '/v1/settings',
    body: { lowBalanceThreshold: 20_000 },
  });
  expect(patched.status).toBe(200);
  await untilWebhook('/', 'settings.changed');
  await untilWebhook('/', 'credits.low_balance');
  receiver.answerWith(({ attempt }) => ({ status: attempt === 1 ? 500 : 204 }));
  expect((await post('/v1/webhooks/test')).status).toBe(202);
  const again = await receiver.waitFor(
    ({ event, attempt }) => event.type === 'webhook.test' && attempt === 2,
  );
  const [first] = receiver.received.filter(({ event }) => event.type === 'webhook.test');
  expect(first?.deliveryId).toBe(again.deliveryId);
  receiver.answerWith(() => ({ status: 204 }));
});

/**
 * Sends requests of a new tenant: first `accepted` requests that must succeed, then one more.
 * Returns the answer to the last request.
 */
async function refusedAfter(accepted: number, target: string, body: object): Promise<WireAnswer> {
  const fresh = await signUp();
  for (let count = 0; count < accepted; count += 1) {
    expect(await post(target, body, fresh)).toMatchObject({ status: 201 });
  }
  return post(target, body, fresh);
}

/** For each error code on the page: sends a request that the service answers with this code. */
const errors: Record<string, () => Promise<WireAnswer>> = {
  bad_request: () => get('/v1/%zz'),
  unauthenticated: () =>
    ask({ method: 'GET', target: '/v1/settings' }, { ...tenant, hmacSecret: 'hsk_test_wrong' }),
  async insufficient_credits() {
    const poor = await stack.createTenant({ grantCredits: 600 });
    const spend = application('sandbox.succeed', { actions: 400 }, { tier: 'instant' });
    expect(await post(submissions, spend, poor)).toMatchObject({ status: 201 });
    const wire = { method: 'GET', target: '/v1/credits/balance' };
    await waitUntil(async () => (await ask(wire, poor)).body['balance'] === 100);
    return post(submissions, application('sandbox.succeed'), poor);
  },
  async job_type_not_allowed() {
    const barred = await stack.createTenant({ allow: [] });
    return post(submissions, application('sandbox.succeed'), barred);
  },
  async scope_missing() {
    const created = await post('/v1/keys', { scopes: ['read'] });
    const { keyId, hmacSecret } = created.body;
    const reader = { ...tenant, hmacSecret: String(hmacSecret) };
    const wire = { method: 'POST', target: submissions, headers: { 'x-svc-key': String(keyId) } };
    return ask({ ...wire, body: application('sandbox.succeed') }, reader);
  },
  operator_only: () => post('/v1/credits/purchase', {}),
  not_found: () => get(`${submissions}/sub_01kajh8z2wf5xav9c3q7m4n6rt`),
  method_not_allowed: () => ask({ method: 'DELETE', target: submissions }),
  async idempotency_key_conflict() {
    const first = application('sandbox.fail');
    await post(submissions, first);
    return post(submissions, { ...first, tier: 'instant' });
  },
  async terminal_state() {
    const target = await submit('sandbox.fail');
    await untilStatus(target, 'failed');
    return post(`${target}/cancel`);
  },
  endpoint_limit: () => refusedAfter(5, '/v1/webhook-endpoints', { url: null }),
  key_limit: () => refusedAfter(9, '/v1/keys', {}),
  async last_key() {
    const fresh = await signUp();
    const keys = await ask({ method: 'GET', target: '/v1/keys' }, fresh);
    const [, keyId = ''] = /"keyId":"([^"]+)"/.exec(keys.text) ?? [];
    return ask({ method: 'DELETE', target: `/v1/keys/${keyId}` }, fresh);
  },
  solana_disabled: () => post('/v1/credits/purchase-intents', { credits: 1, token: 'USDC' }),
  webhook_url_missing: async () => post('/v1/webhooks/test', undefined, await signUp()),
  async delivery_in_progress() {
    const answered = Promise.withResolvers<void>();
    const slow = await createWebhookReceiver();
    slow.answerWith(() => answered.promise.then(() => ({ status: 204 })));
    const waiting = await signUp(slow.url);
    const { body } = await post('/v1/webhooks/test', undefined, waiting);
    await slow.waitFor(() => true);
    const target = `/v1/webhooks/deliveries/${String(body['deliveryId'])}/redeliver`;
    const answer = await post(target, undefined, waiting);
    answered.resolve();
    await waitUntil(async () => {
      const list = await ask({ method: 'GET', target: '/v1/webhooks/deliveries' }, waiting);
      return list.text.includes('"delivered"');
    });
    await slow.close();
    return answer;
  },
  payload_too_large: () => post(submissions, ' '.repeat(largeBodyBytes)),
  unsupported_media_type: () =>
    send(
      stack.gatewayUrl,
      signedBy(tenant, {
        method: 'POST',
        target: submissions,
        body: 'text',
        headers: { 'content-type': 'text/plain' },
      }),
    ),
  validation_error: () => post(submissions, job('page-bad', { payload: {} })),
  unknown_job_type: () => post(submissions, job('page-bad', { jobType: 'none' })),
  unknown_tier: () => post(submissions, job('page-bad', { tier: 'none' })),
  async rate_limited() {
    const fresh = await signUp(receiver.url);
    await post('/v1/webhooks/test', undefined, fresh);
    return post('/v1/webhooks/test', undefined, fresh);
  },
  headers_too_large: () =>
    send(stack.gatewayUrl, { method: 'GET', target: '/ready', headers: { x: headerBeyond } }),
  dispatch_unavailable: () => post(submissions, application('sandbox.decline')),
};

describe('each error', () => {
  test.each(Object.entries(errors))('%s', async (code, bringAbout) => {
    const answer = await bringAbout();
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.body).toMatchObject({ code });
  });
});

// This test is the last one, because it advances the clock of the stack.
test('failed, node_lost', async () => {
  const target = await submit('sandbox.lost');
  await untilStatus(target, 'running');
  await stack.advanceClock(leaseMs + 1_000);
  expect(await untilStatus(target, 'failed')).toMatchObject({
    failure: { code: 'node_lost', outcomeUnknown: true },
  });
  await receiver.waitFor(
    ({ event }) =>
      target.endsWith(String(event.data['submissionId'])) && event.type === 'submission.failed',
    { timeoutMs: 20_000 },
  );
});
