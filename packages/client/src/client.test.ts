import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { requestIdOf } from './call.ts';
import type { Client } from './client-methods.ts';
import { createClient } from './client.ts';
import type { ClientOptions } from './connection.ts';
import { ApiError, unrecognisedAnswer, WaitTimeoutError } from './errors.ts';

const secret = 'hsk_test_client';
const startMs = 1_795_000_000_999;

interface Received {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
}

let server: Server;
let baseUrl: string;
let received: Received[];
/** The answers of the server, in order. The last one repeats. */
let answers: Answer[];
let nowMs: number;
let sleptMs: number[];

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '', headers } = request;
  received.push({ method, target: url, headers, body: await readBody(request) });
  const answer = answers.length > 1 ? answers.shift() : answers[0];
  const text = typeof answer?.body === 'string' ? answer.body : JSON.stringify(answer?.body);
  response.writeHead(answer?.status ?? 200, answer?.headers);
  response.end(text);
}

beforeEach(async () => {
  received = [];
  answers = [];
  nowMs = startMs;
  sleptMs = [];
  server = createServer((request, response) => {
    void respond(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  baseUrl = `http://127.0.0.1:${address.port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
});

function client(options: Partial<ClientOptions> = {}): Client {
  return createClient({
    baseUrl,
    tenantId: 'tnt_1',
    secret,
    maxRetries: 0,
    now: () => nowMs,
    sleep: async (milliseconds) => {
      sleptMs.push(milliseconds);
      nowMs += milliseconds;
    },
    ...options,
  });
}

function only(): Received {
  const [request, ...others] = received;
  if (request === undefined || others.length > 0) throw new Error(`${received.length} requests`);
  return request;
}

function expectedSignature(request: Received): string {
  const bodySha256 = createHash('sha256').update(request.body).digest('hex');
  const { method, target } = request;
  const lines = ['SVC1-HMAC-SHA256', '1795000000', method, target, bodySha256];
  return `v1=${createHmac('sha256', secret).update(lines.join('\n')).digest('hex')}`;
}

function problem(status: number, code: string, members: object = {}): Answer {
  const body = { type: `errors#${code}`, title: code, status, code, detail: 'Why.', ...members };
  return { status, headers: { 'content-type': 'application/problem+json' }, body };
}

const submission = {
  idempotencyKey: 'application-8841',
  jobType: 'ats.application',
  payload: {
    applicationUrl: 'https://jobs.example.com/apply/8841',
    atsType: 'greenhouse',
    applicantProfile: { name: 'Ana Pérez' },
    jobContext: { title: 'Welder', company: 'Example Works' },
  },
} as const;

describe('requests', () => {
  const created = { submissionId: 'sub_1', status: 'dispatched', quote: {}, balance: {} };
  const calls: [string, string, object, (api: Client) => Promise<unknown>][] = [
    ['POST', '/v1/submissions', created, (api) => api.submit(submission)],
    ['GET', '/v1/submissions/sub_1', { id: 'sub_1' }, (api) => api.getSubmission('sub_1')],
    ['POST', '/v1/submissions/sub_1/cancel', { refund: {} }, (api) => api.cancel('sub_1')],
    ['GET', '/v1/credits/balance', { available: 1 }, (api) => api.balance()],
    ['GET', '/v1/rate-card', { jobTypes: [] }, (api) => api.rateCard()],
  ];

  test.each(calls)('%s %s is signed as sent', async (method, target, body, call) => {
    answers = [{ body }];
    await expect(call(client())).resolves.toEqual(body);
    const request = only();
    expect(request).toMatchObject({ method, target });
    expect(request.headers).toMatchObject({
      'x-svc-tenant': 'tnt_1',
      'x-svc-timestamp': '1795000000',
      'x-svc-signature': expectedSignature(request),
    });
  });

  test('a submission is sent completely as JSON', async () => {
    answers = [{ status: 201, body: created }];
    await client().submit(submission);
    const { headers, body } = only();
    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse(body)).toEqual(submission);
  });

  test('a base path and an id with special characters are signed as sent', async () => {
    answers = [{ body: { id: 'x' } }];
    await client({ baseUrl: `${baseUrl}/svc/` }).getSubmission('a/b ?ü');
    const request = only();
    expect(request.target).toBe('/svc/v1/submissions/a%2Fb%20%3F%C3%BC');
    expect(request.headers['x-svc-signature']).toBe(expectedSignature(request));
  });

  const intent = { reference: 'ref', solanaPayUrl: 'solana:abc', status: 'pending' };
  const others: [string, string, object | null, object, (api: Client) => Promise<unknown>][] = [
    [
      'POST',
      '/v1/quotes',
      { jobType: 'x', payload: {} },
      { quote: {} },
      (api) => api.quote({ jobType: 'x', payload: {} }),
    ],
    ['GET', '/v1/settings', null, { tenantId: 'tnt_1' }, (api) => api.getSettings()],
    [
      'PATCH',
      '/v1/settings',
      { webhookUrl: null },
      { tenantId: 'tnt_1' },
      (api) => api.changeSettings({ webhookUrl: null }),
    ],
    ['POST', '/v1/webhooks/test', null, { deliveryId: 'dlv_1' }, (api) => api.testWebhook()],
    [
      'GET',
      '/v1/webhooks/deliveries/dlv_1',
      null,
      { attempts: [] },
      (api) => api.getDelivery('dlv_1'),
    ],
    [
      'POST',
      '/v1/webhooks/deliveries/dlv_1/redeliver',
      null,
      { deliveryId: 'dlv_1' },
      (api) => api.redeliver('dlv_1'),
    ],
    [
      'POST',
      '/v1/credits/purchase-intents',
      { credits: 5, token: 'USDC' },
      intent,
      (api) => api.createPurchaseIntent({ credits: 5 }),
    ],
    [
      'GET',
      '/v1/credits/purchase-intents/ref',
      null,
      intent,
      (api) => api.getPurchaseIntent('ref'),
    ],
    [
      'GET',
      '/v1/credits/purchase-intents/ref/await',
      null,
      intent,
      (api) => api.awaitPurchaseIntent('ref'),
    ],
    [
      'GET',
      '/v1/credits/purchase-intents/ref/await?timeoutSeconds=0',
      null,
      intent,
      (api) => api.awaitPurchaseIntent('ref', { timeoutSeconds: 0 }),
    ],
  ];

  test.each(others)('%s %s is sent with its body', async (method, target, body, answer, call) => {
    answers = [{ body: answer }];
    await expect(call(client())).resolves.toEqual(answer);
    expect(only()).toMatchObject({ method, target });
    expect(only().body === '' ? null : JSON.parse(only().body)).toEqual(body);
    expect(only().headers['x-svc-signature']).toBe(expectedSignature(only()));
  });

  test('the QR code of a purchase intent is text', async () => {
    answers = [{ body: '<svg></svg>' }];
    await expect(client().purchaseIntentQr('ref')).resolves.toBe('<svg></svg>');
    expect(only().target).toBe('/v1/credits/purchase-intents/ref/qr.svg');
  });

  test('the request id of an answer is known', async () => {
    answers = [{ headers: { 'x-request-id': 'req-7' }, body: { available: 1 } }];
    expect(requestIdOf(await client().balance())).toBe('req-7');
  });

  test('a given fetch function is used', async () => {
    const api = client({ fetch: async () => Response.json({ available: 7 }) });
    await expect(api.balance()).resolves.toEqual({ available: 7 });
    expect(received).toEqual([]);
  });
});

describe('readiness', () => {
  test('needs no signature, and not_ready is an answer', async () => {
    answers = [{ body: { status: 'ready' } }];
    await expect(client().ready()).resolves.toEqual({ status: 'ready' });
    expect(Object.keys(only().headers).filter((name) => name.startsWith('x-svc'))).toEqual([]);
    answers = [{ status: 503, body: { status: 'not_ready', missing: ['redis'] } }];
    await expect(client().ready()).resolves.toMatchObject({ status: 'not_ready' });
  });

  test('from another program is an error', async () => {
    answers = [{ status: 502, body: '<html>' }];
    await expect(client().ready()).rejects.toMatchObject({ status: 502 });
  });
});

async function failure(call: Promise<unknown>): Promise<ApiError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('the call did not fail');
}

describe('errors', () => {
  test('have status, code, detail, request id and the whole problem', async () => {
    answers = [problem(402, 'insufficient_credits', { required: 200, requestId: 'req-1' })];
    const error = await failure(client().submit(submission));
    expect(error).toMatchObject({
      name: 'InsufficientCreditsError',
      message: '402 insufficient_credits: Why.',
      status: 402,
      code: 'insufficient_credits',
      detail: 'Why.',
      requestId: 'req-1',
      problem: { required: 200 },
    });
  });

  test.each([
    ['a page from a proxy', { status: 502, body: '<html>Bad gateway</html>' }],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' }, body: '' }],
    ['a success without JSON', { status: 200, body: '<html>Sign in</html>' }],
    ['a success with other members', { status: 200, body: { hello: 'world' } }],
    ['an error without a code', { status: 500, body: ['no'] }],
  ])('%s is reported as unrecognised, with the request id of its header', async (_name, answer) => {
    const headers = { ...('headers' in answer ? answer.headers : {}), 'x-request-id': 'req-2' };
    answers = [{ ...answer, headers }];
    const error = await failure(client().balance());
    expect(error.code).toBe(unrecognisedAnswer);
    expect(error.status).toBe(answer.status);
    expect(error.requestId).toBe('req-2');
    expect(received).toHaveLength(1);
  });

  test('without an answer have the error of fetch as their cause', async () => {
    const api = client({
      fetch: async () => {
        throw new TypeError('fetch failed');
      },
    });
    await expect(api.balance()).rejects.toMatchObject({
      name: 'ApiConnectionError',
      cause: { message: 'fetch failed' },
    });
  });

  test('a request that takes too long is cancelled', async () => {
    const api = client({
      requestTimeoutMs: 1,
      fetch: (_input, init) =>
        new Promise((_resolve, reject) => {
          init?.signal?.addEventListener('abort', () => {
            reject(new Error('given up'));
          });
        }),
    });
    await expect(api.balance()).rejects.toMatchObject({ name: 'ApiTimeoutError' });
  });
});

describe('limits of a call', () => {
  test('a call ends at its time limit, without a pause that would exceed it', async () => {
    answers = [problem(503, 'unavailable')];
    const call = client({ maxRetries: 9 }).balance({ timeoutMs: 1200 });
    await expect(call).rejects.toMatchObject({ name: 'ServerError', code: 'unavailable' });
    expect(nowMs).toBeLessThan(startMs + 1200);
    expect(received.length).toBeGreaterThan(1);
  });

  test('a signal ends the pause before a repeat, and its reason is the error', async () => {
    answers = [problem(503, 'unavailable', { retryAfterSeconds: 60 })];
    const controller = new AbortController();
    const api = createClient({ baseUrl, tenantId: 'tnt_1', secret });
    const call = api.balance({ signal: controller.signal });
    while (received.length === 0)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    controller.abort(new Error('no longer wanted'));
    await expect(call).rejects.toThrow('no longer wanted');
    expect(received).toHaveLength(1);
  });

  test('a signal that has aborted sends nothing', async () => {
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(client().balance({ signal })).rejects.toThrow('too late');
    expect(received).toEqual([]);
  });

  test('a pause of more than a minute is left to the caller', async () => {
    answers = [problem(429, 'rate_limited', { retryAfterSeconds: 61 })];
    const error = await failure(client({ maxRetries: 3 }).balance());
    expect(error).toMatchObject({ name: 'RateLimitError', problem: { retryAfterSeconds: 61 } });
    expect(received).toHaveLength(1);
  });

  test('the time until the date of Retry-After is measured by the Date of the answer', async () => {
    const headers = {
      date: 'Sun, 22 Nov 2026 10:00:00 GMT',
      'retry-after': 'Sun, 22 Nov 2026 10:00:07 GMT',
    };
    answers = [{ status: 503, headers, body: '<html>' }, { body: { available: 1 } }];
    await client({ maxRetries: 1 }).balance();
    expect(sleptMs).toEqual([7000]);
  });

  test('the pauses double from half a second to eight seconds', async () => {
    answers = [{ status: 500, body: '' }];
    await failure(client({ maxRetries: 6 }).balance());
    const longestMs = [500, 1000, 2000, 4000, 8000, 8000];
    expect(sleptMs).toHaveLength(longestMs.length);
    for (const [index, ms] of longestMs.entries()) {
      expect(sleptMs[index]).toBeLessThanOrEqual(ms);
      expect(sleptMs[index]).toBeGreaterThanOrEqual(ms / 2);
    }
  });
});

describe('waiting for the end', () => {
  const running: Answer = { body: { id: 'sub_1', status: 'running' } };
  const submitted: Answer = { body: { id: 'sub_1', status: 'submitted' } };

  test.each(['submitted', 'failed', 'cancelled'])('ends at %s', async (status) => {
    answers = [{ body: { id: 'sub_1', status } }];
    const ended = await client().waitFor('sub_1', { timeoutMs: 1000 });
    expect(ended.status).toBe(status);
    expect(sleptMs).toEqual([]);
  });

  test('polls with growing pauses of at most two seconds', async () => {
    answers = [...Array.from({ length: 8 }, () => running), submitted];
    await client().waitFor('sub_1', { timeoutMs: 60_000 });
    expect(sleptMs.slice(0, 2)).toEqual([250, 375]);
    expect(sleptMs.slice(-2)).toEqual([2000, 2000]);
  });

  test('continues after an outage and a rate limit, and obeys retryAfterSeconds', async () => {
    answers = [
      problem(503, 'unavailable'),
      { status: 502, body: '<html>' },
      problem(429, 'rate_limited', { retryAfterSeconds: 7 }),
      submitted,
    ];
    await client().waitFor('sub_1', { timeoutMs: 60_000 });
    expect(sleptMs).toEqual([250, 375, 7000]);
  });

  test('fails at once if the submission does not exist', async () => {
    answers = [problem(404, 'not_found')];
    await expect(client().waitFor('sub_1', { timeoutMs: 1000 })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(received).toHaveLength(1);
  });

  test('fails at the timeout with the last known state', async () => {
    answers = [running];
    const waiting = client().waitFor('sub_1', { timeoutMs: 1000 });
    const error: unknown = await waiting.catch((thrown: unknown) => thrown);
    if (!(error instanceof WaitTimeoutError)) throw new Error('unexpected error', { cause: error });
    expect(error.last).toEqual(running.body);
    expect(error.cause).toBeUndefined();
    expect(nowMs).toBeLessThanOrEqual(startMs + 1000);
  });

  test('fails at the timeout with the last error as its cause', async () => {
    answers = [problem(503, 'unavailable')];
    const waiting = client().waitFor('sub_1', { timeoutMs: 300 });
    await expect(waiting).rejects.toMatchObject({ last: null, cause: { code: 'unavailable' } });
  });
});
