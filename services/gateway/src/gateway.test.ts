import {
  Balance,
  CancelAnswer,
  QuoteAnswer,
  RateCardAnswer,
  SubmissionCreated,
  SubmissionDetail,
} from '@svc/contracts';
import { fromWireId, parseDecimal, toWireId } from '@svc/domain';
import { commitRunning, settle, storeOutcome } from '@svc/store';
import { advanceDatabaseClock, sendSigned, waitUntil } from '@svc/testkit';
import { beforeEach, describe, expect, test } from 'vitest';
import { bodyOf, payload, problemOf, submission } from './answers.fixture.ts';
import { type TestTenant, useGateways } from './gateway.fixture.ts';

const gateways = await useGateways();
beforeEach(() => {
  gateways.dispatching = 'accept';
});

const target = '/v1/submissions';
const post = (tenant: TestTenant, body: object, baseUrl = gateways.baseUrls[0] ?? '') =>
  tenant.send({ method: 'POST', target, body, baseUrl });

const uuidOf = (id: string) => fromWireId('sub', id) ?? '';
const cancel = (tenant: TestTenant, uuid: string) =>
  tenant.send({ method: 'POST', target: `${target}/${toWireId('sub', uuid)}/cancel` });
const read = (tenant: TestTenant, uuid: string) =>
  tenant.send({ target: `${target}/${toWireId('sub', uuid)}` });

async function create(tenant: TestTenant): Promise<string> {
  const response = await post(tenant, submission('a'));
  return uuidOf(bodyOf(response, SubmissionCreated).submissionId);
}

async function balanceOf(tenant: TestTenant) {
  const { balance, held, available } = bodyOf(
    await tenant.send({ target: '/v1/credits/balance' }),
    Balance,
  );
  return { balance, held, available };
}

describe('a creation', () => {
  test('holds the worst case and is answered 201 when a node has accepted', async () => {
    const tenant = await gateways.tenant();
    const response = await post(tenant, submission('a'));
    expect(response.status).toBe(201);
    expect(bodyOf(response, SubmissionCreated)).toMatchObject({
      status: 'dispatched',
      quote: { max: 200, surge: 1 },
      balance: { after: 9800, held: 200 },
    });
    expect(await balanceOf(tenant)).toEqual({ balance: 10_000, held: 200, available: 9800 });
  });

  test('passes its payload to the node exactly as sent', async () => {
    const tenant = await gateways.tenant();
    const profile = '{"z":1.50,"a":1e400,"__proto__":{"id":12345678901234567890},"é":"\\u00e9"}';
    const sent = JSON.stringify(payload).replace(/\{"name":[^}]*\}/, profile);
    const text = JSON.stringify(submission('a')).replace(JSON.stringify(payload), sent);
    expect(text).toContain(profile);
    const { submissionId } = bodyOf(await post(tenant, Buffer.from(text)), SubmissionCreated);
    expect(gateways.payloadTexts.get(uuidOf(submissionId))).toBe(sent);
  });

  test('gets the same answer from the reply, from Postgres, and if the reply is lost', async () => {
    const answers: unknown[] = [];
    for (const dispatching of ['accept', 'accept_look', 'accept_silently'] as const) {
      gateways.dispatching = dispatching;
      const tenant = await gateways.tenant({ credits: 9_999.000_001 });
      const response = await post(tenant, submission('a', { tier: 'priority' }));
      expect(response.status).toBe(201);
      const { submissionId, ...rest } = bodyOf(response, SubmissionCreated);
      expect((await read(tenant, uuidOf(submissionId))).status).toBe(200);
      answers.push(rest);
      const replay = await post(tenant, submission('a', { tier: 'priority' }));
      expect(replay.json()).toEqual({ submissionId, ...rest, idempotent: true });
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  test('that no node accepts is 503, leaves nothing held and frees its key', async () => {
    gateways.dispatching = 'reject';
    const tenant = await gateways.tenant();
    const response = await post(tenant, submission('a'));
    expect(response.status).toBe(503);
    expect(problemOf(response)).toMatchObject({
      code: 'dispatch_unavailable',
      retryAfterSeconds: 1,
    });
    expect(response.headers['retry-after']).toBe('1');
    expect(await balanceOf(tenant)).toMatchObject({ held: 0, available: 10_000 });
    gateways.dispatching = 'accept';
    expect((await post(tenant, submission('a'))).status).toBe(201);
  });

  test('still pending a second after its deadline is rejected by the waiting request', async () => {
    gateways.dispatching = 'ignore';
    const tenant = await gateways.tenant();
    const before = gateways.dispatched.length;
    const waiting = post(tenant, submission('a'));
    await waitUntil(() => gateways.dispatched.length > before, { what: 'the job' });
    await advanceDatabaseClock(gateways.database.databaseUrl, 6_001);
    expect(problemOf(await waiting).code).toBe('dispatch_unavailable');
    expect(await balanceOf(tenant)).toMatchObject({ held: 0 });
  });

  test('without enough credits is 402 with the required amount, and holds nothing', async () => {
    const tenant = await gateways.tenant({ credits: 299 });
    const response = await post(tenant, submission('a', { tier: 'priority' }));
    expect(response.status).toBe(402);
    const problem = problemOf(response);
    expect(problem).toMatchObject({ code: 'insufficient_credits', required: 300 });
    expect(problem).not.toHaveProperty('balance');
    expect((await post(tenant, submission('a'))).status).toBe(201);
  });

  test('with a job type that is not allowed is 403', async () => {
    const tenant = await gateways.tenant({ jobTypes: [] });
    const response = await post(tenant, submission('a'));
    expect([response.status, problemOf(response).code]).toEqual([403, 'job_type_not_allowed']);
  });

  test('with an invalid payload is refused with a list of its errors', async () => {
    const tenant = await gateways.tenant();
    const wrong = { ...payload, applicationUrl: 'http://127.1/', atsType: 1 };
    const response = await post(tenant, submission('a', { payload: wrong }));
    expect(response.status).toBe(422);
    expect(problemOf(response).errors).toEqual([
      {
        path: '/payload/applicationUrl',
        message: 'must be an http or https URL with a public host and without a user or password',
        keyword: 'format',
      },
      { path: '/payload/atsType', message: 'must be a string', keyword: 'type' },
    ]);
  });
});

describe('a repeated idempotency key', () => {
  test('with the same body is 200 with the first answer, on any gateway', async () => {
    const tenant = await gateways.tenant();
    const first = await post(tenant, submission('a'));
    const other = await post(
      tenant,
      { payload, tier: 'standard', jobType: 'ats.application', idempotencyKey: 'a' },
      gateways.baseUrls[1],
    );
    expect(other.status).toBe(200);
    expect(other.json()).toEqual({ ...bodyOf(first, SubmissionCreated), idempotent: true });
    expect(await balanceOf(tenant)).toMatchObject({ held: 200 });
  });

  test('with another body is 409, before the rest of the body is checked', async () => {
    const tenant = await gateways.tenant();
    await post(tenant, submission('a'));
    const response = await post(tenant, submission('a', { jobType: 'no.such' }));
    expect([response.status, problemOf(response).code]).toEqual([409, 'idempotency_key_conflict']);
  });

  test('from another tenant is a different key', async () => {
    const [one, other] = [await gateways.tenant(), await gateways.tenant()];
    expect((await post(one, submission('a'))).status).toBe(201);
    expect((await post(other, submission('a'))).status).toBe(201);
  });

  test('sent fifty times at once holds once: one 201, the others 200 with the same body', async () => {
    const tenant = await gateways.tenant();
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        post(tenant, submission('a'), gateways.baseUrls[index % 2]),
      ),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(49);
    const ids = responses.map((response) => bodyOf(response, SubmissionCreated).submissionId);
    expect(new Set(ids).size).toBe(1);
    expect(await balanceOf(tenant)).toMatchObject({ held: 200 });
  });

  test('waits while the first request is in flight, and gets the same error', async () => {
    gateways.dispatching = 'ignore';
    const tenant = await gateways.tenant();
    const before = gateways.dispatched.length;
    const first = post(tenant, submission('a'));
    await waitUntil(() => gateways.dispatched.length > before, { what: 'the job' });
    const second = post(tenant, submission('a'), gateways.baseUrls[1]);
    await advanceDatabaseClock(gateways.database.databaseUrl, 6_001);
    for (const response of await Promise.all([first, second])) {
      expect(problemOf(response).code).toBe('dispatch_unavailable');
    }
    expect(await balanceOf(tenant)).toMatchObject({ held: 0 });
  });

  test('is always terminal_state if the first was cancelled while pending', async () => {
    gateways.dispatching = 'ignore';
    const tenant = await gateways.tenant();
    const before = gateways.dispatched.length;
    const first = post(tenant, submission('a'));
    const uuid = await waitUntil(() => gateways.dispatched[before], { what: 'the job' });
    const cancelled = await cancel(tenant, uuid);
    expect(bodyOf(cancelled, CancelAnswer)).toMatchObject({ refund: { amount: 200, charged: 0 } });
    for (const response of [await first, await post(tenant, submission('a'))]) {
      expect(problemOf(response)).toMatchObject({
        code: 'terminal_state',
        submissionStatus: 'cancelled',
        refund: { amount: 200, charged: 0 },
      });
    }
  });
});

describe('reading a submission', () => {
  test('shows the full record and never the payload', async () => {
    const tenant = await gateways.tenant();
    const uuid = await create(tenant);
    const response = await read(tenant, uuid);
    expect(response.status).toBe(200);
    expect(bodyOf(response, SubmissionDetail)).toMatchObject({
      id: toWireId('sub', uuid),
      status: 'dispatched',
      tier: 'standard',
      idempotencyKey: 'a',
      actualCredits: null,
      refundedCredits: null,
      usage: {},
      failure: null,
      result: null,
      lateOutcome: null,
      startedAt: null,
      finishedAt: null,
    });
    expect(response.text).not.toContain('Ana');
  });

  test('shows charge, refund, usage and result after settlement', async () => {
    const tenant = await gateways.tenant();
    const uuid = await create(tenant);
    const { store, nodeId, database } = gateways;
    await commitRunning(store, { submissionId: uuid, nodeId });
    await advanceDatabaseClock(database.databaseUrl, 12_000);
    const usage = { nodeSeconds: decimal('10.5'), actions: decimal('3') };
    const result = { confirmationId: 'C-1', details: { steps: 4 } };
    const outcome = { kind: 'completed', usage, result } as const;
    await storeOutcome(store, { submissionId: uuid, nodeId, outcome });
    expect(bodyOf(await read(tenant, uuid), SubmissionDetail).status).toBe('running');
    await settle(store, [uuid]);
    expect(bodyOf(await read(tenant, uuid), SubmissionDetail)).toMatchObject({
      status: 'submitted',
      actualCredits: 26.75,
      refundedCredits: 173.25,
      usage: { nodeSeconds: 10.5, actions: 3 },
      result,
    });
  });

  test('shows if a failure is retriable and if its outcome is known', async () => {
    const tenant = await gateways.tenant();
    const uuid = await create(tenant);
    const { store, nodeId } = gateways;
    const report = { submissionId: uuid, nodeId };
    await commitRunning(store, report);
    const failure = { code: 'node_error', message: 'the browser died' } as const;
    await storeOutcome(store, { ...report, outcome: { kind: 'failed', usage: {}, ...failure } });
    await settle(store, [uuid]);
    expect(bodyOf(await read(tenant, uuid), SubmissionDetail)).toMatchObject({
      status: 'failed',
      actualCredits: 0,
      refundedCredits: 200,
      failure: { ...failure, retriable: false, outcomeUnknown: true },
    });
  });

  test('gets the same 404 for a foreign, unknown, malformed or rejected id, byte for byte', async () => {
    const [owner, stranger] = [await gateways.tenant(), await gateways.tenant()];
    const foreign = toWireId('sub', await create(owner));
    gateways.dispatching = 'reject';
    await post(stranger, submission('rejected'));
    const rejected = toWireId('sub', gateways.dispatched.at(-1) ?? '');
    const unknown = toWireId('sub', stranger.uuid);
    const answers = [];
    for (const id of [foreign, unknown, rejected, 'nonsense', foreign.toUpperCase()]) {
      for (const [method, suffix] of [
        ['GET', ''],
        ['POST', '/cancel'],
      ] as const) {
        const headers = { 'x-request-id': 'same' };
        const answer = await stranger.send({ method, target: `${target}/${id}${suffix}`, headers });
        answers.push(`${answer.status} ${answer.text}`);
      }
    }
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toMatch(/^404 .*not_found/);
  });
});

describe('a cancel', () => {
  test('before begin releases the whole hold, once', async () => {
    const tenant = await gateways.tenant();
    const uuid = await create(tenant);
    const first = await cancel(tenant, uuid);
    expect(first.status).toBe(200);
    const refund = { amount: 200, charged: 0 };
    expect(bodyOf(first, CancelAnswer)).toMatchObject({ status: 'cancelled', refund });
    const second = await cancel(tenant, uuid);
    expect(second.status).toBe(409);
    expect(problemOf(second)).toMatchObject({ submissionStatus: 'cancelled', refund });
    expect(await balanceOf(tenant)).toEqual({ balance: 10_000, held: 0, available: 10_000 });
    const replay = await post(tenant, submission('a'));
    expect([replay.status, bodyOf(replay, SubmissionCreated).status]).toEqual([200, 'dispatched']);
  });

  test('that finds a stored outcome settles it and reports how the submission ended', async () => {
    const tenant = await gateways.tenant();
    const uuid = await create(tenant);
    const { store, nodeId } = gateways;
    const outcome = { kind: 'failed', usage: {}, code: 'captcha', message: '' } as const;
    await storeOutcome(store, { submissionId: uuid, nodeId, outcome });
    const response = await cancel(tenant, uuid);
    expect(problemOf(response)).toMatchObject({
      code: 'terminal_state',
      submissionId: toWireId('sub', uuid),
      submissionStatus: 'failed',
    });
    expect(response.json()).not.toHaveProperty('refund');
    expect(await balanceOf(tenant)).toMatchObject({ held: 0 });
  });
});

describe('prices', () => {
  test('on the rate card are those of quotes', async () => {
    const tenant = await gateways.tenant();
    const card = bodyOf(await tenant.send({ target: '/v1/rate-card' }), RateCardAnswer);
    expect(card).toMatchObject({ surgeMultiplier: 1, usdPerCredit: 0.01 });
    expect(card.jobTypes[0]?.tiers.instant).toMatchObject({
      base: 20,
      max: 200,
      tierMultiplier: 2.5,
      weights: { nodeSeconds: 0.5, memoryGbSeconds: 0.05 },
    });
  });

  test('can be quoted without a hold', async () => {
    const tenant = await gateways.tenant({ credits: 499 });
    const { idempotencyKey: _, ...body } = submission('a', { tier: 'instant' });
    const response = await tenant.send({ method: 'POST', target: '/v1/quotes', body });
    expect(response.status).toBe(200);
    expect(bodyOf(response, QuoteAnswer)).toMatchObject({
      quote: { max: 500 },
      sufficient: false,
      available: 499,
    });
    expect(await balanceOf(tenant)).toMatchObject({ held: 0 });
  });
});

test('ready needs no authentication', async () => {
  const baseUrl = gateways.baseUrls[0] ?? '';
  const response = await sendSigned({ baseUrl, method: 'GET', target: '/ready' });
  expect([response.status, response.json()]).toEqual([200, { status: 'ready' }]);
});

function decimal(text: string) {
  const parsed = parseDecimal(text);
  if (parsed === undefined) throw new Error(text);
  return parsed;
}
