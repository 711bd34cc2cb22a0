import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TenantCredentials } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OperatorKey } from '../support/accounts.ts';
import { startWholeStack, type WholeStack } from '../support/whole-stack.ts';
import { send, signatureHeaders, signedBy, type WireRequest } from '../support/wire.ts';
import {
  plainBody,
  worstBodies,
  worstForms,
  worstHeaders,
  worstQueries,
  worstSubmissions,
  type WorstCase,
} from './worst-cases.ts';

/**
 * For every endpoint of the OpenAPI document, compares two processor times of the gateway: the time
 * for the worst cases and the time for a plain request.
 */

/** A worst case may take at most this many times the processor time of a plain request. */
const ratioMax = 10;
/**
 * A plain request counts as at least this many milliseconds, because a smaller figure depends more
 * on the clock and the garbage collector than on the request.
 */
const plainMsMin = 2;
const samplesMax = 5;
const nsPerMs = 1_000_000;
const plainSamples = 3;
const tenantCount = 24;
const plainRead: WireRequest = { method: 'GET', target: '/v1/credits/balance' };

let whole: WholeStack;
let gatewayUrl: string;
/** Requests take turns, so that no tenant reaches a rate limit. A 429 would hide the cost. */
let tenants: readonly TenantCredentials[];
let turn = 0;
let operator: OperatorKey;

beforeAll(async () => {
  whole = await startWholeStack({ env: { SIGNUP_PER_HOUR: '100000' } });
  gatewayUrl = whole.stack.gatewayUrls[0] ?? '';
  // One credit is not enough for a submission, so the gateway makes all checks of a creation but
  // creates no submission.
  tenants = await Promise.all(
    Array.from({ length: tenantCount }, () => whole.tenant({ grantCredits: 1 })),
  );
  for (const tenant of tenants) await send(gatewayUrl, signedBy(tenant, plainRead));
  operator = await whole.operator('costs');
});
afterAll(() => whole.close());

interface Operation {
  readonly method: string;
  readonly target: string;
  readonly signer: 'tenant' | 'operator' | 'nobody';
}

const operations: readonly Operation[] = [
  ...[
    '/v1/submissions',
    '/v1/submissions/sub_01kajh8z2wf5xav9c3q7m4n6rt',
    '/v1/credits/balance',
    '/v1/credits/transactions',
    '/v1/rate-card',
    '/v1/settings',
    '/v1/keys',
    '/v1/audit',
    '/v1/webhooks/deliveries',
    '/v1/webhooks/deliveries/dlv_01kajh8z2wf5xav9c3q7m4n6rt',
    '/v1/webhook-endpoints',
    '/v1/webhook-endpoints/whe_01kajh8z2wf5xav9c3q7m4n6rt',
    '/v1/webhook-endpoints/whe_01kajh8z2wf5xav9c3q7m4n6rt/events',
    '/v1/credits/purchase-intents/x',
    '/v1/credits/purchase-intents/x/await',
    '/v1/credits/purchase-intents/x/qr.svg',
  ].map((target) => ({ method: 'GET', target, signer: 'tenant' }) as const),
  ...[
    '/v1/submissions',
    '/v1/quotes',
    '/v1/submissions/sub_01kajh8z2wf5xav9c3q7m4n6rt/cancel',
    '/v1/webhooks/test',
    '/v1/webhooks/deliveries/dlv_01kajh8z2wf5xav9c3q7m4n6rt/redeliver',
    '/v1/webhook-endpoints',
    '/v1/webhook-endpoints/whe_01kajh8z2wf5xav9c3q7m4n6rt/rotate-secret',
    '/v1/webhook-endpoints/whe_01kajh8z2wf5xav9c3q7m4n6rt/test',
    '/v1/credits/purchase-intents',
    '/v1/keys',
  ].map((target) => ({ method: 'POST', target, signer: 'tenant' }) as const),
  { method: 'PATCH', target: '/v1/settings', signer: 'tenant' },
  { method: 'DELETE', target: '/v1/keys/key_01kajh8z2wf5xav9c3q7m4n6rt', signer: 'tenant' },
  ...(['PATCH', 'DELETE'] as const).map(
    (method) =>
      ({
        method,
        target: '/v1/webhook-endpoints/whe_01kajh8z2wf5xav9c3q7m4n6rt',
        signer: 'tenant',
      }) as const,
  ),
  { method: 'POST', target: '/v1/credits/purchase', signer: 'operator' },
  { method: 'POST', target: '/signup', signer: 'nobody' },
  ...[
    '/ready',
    '/openapi.json',
    '/docs',
    '/docs/errors',
    '/docs/applicant-profile',
    '/docs/changelog',
    '/docs/guides/quick-start',
    '/docs.md',
    '/docs/errors.md',
    '/docs/applicant-profile.md',
    '/docs/changelog.md',
    '/llms.txt',
    '/pay/x',
    '/schemas/ats-application-profile.json',
    '/signup',
    '/v1/no-such-route',
  ].map((target) => ({ method: 'GET', target, signer: 'nobody' }) as const),
];

test('every endpoint of the document is among those that are measured', async () => {
  const document = await send(gatewayUrl, { method: 'GET', target: '/openapi.json' });
  const { paths } = document.body;
  const described = Object.entries(Object(paths)).flatMap(([path, item]) =>
    Object.keys(Object(item))
      .filter((method) => ['get', 'post', 'patch', 'put', 'delete'].includes(method))
      .map((method) => ({ method: method.toUpperCase(), path })),
  );
  expect(described.length).toBeGreaterThan(15);
  const missing = described.filter(({ method, path }) => {
    const pattern = new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`);
    return !operations.some((one) => one.method === method && pattern.test(one.target));
  });
  expect(missing).toEqual([]);
});

function requestOf({ method, target, signer }: Operation, worst: Partial<WorstCase>): WireRequest {
  const wire: WireRequest = {
    method,
    target: worst.query === undefined ? target : `${target}?${worst.query}`,
    ...(worst.body === undefined ? {} : { body: worst.body }),
  };
  const signed = {
    nobody: () => ({}),
    tenant: () => {
      turn += 1;
      const { tenantId: id, hmacSecret: secret } = tenants[turn % tenantCount]!;
      return signatureHeaders({ id, secret }, wire);
    },
    operator: () =>
      signatureHeaders(
        { id: operator.operatorId, secret: operator.secret, header: 'X-SVC-Operator' },
        wire,
      ),
  }[signer]();
  return { ...wire, headers: { ...signed, ...worst.headers } };
}

/** The gateway's processor time since its start, in milliseconds. */
async function gatewayCpuMs(): Promise<number> {
  // A busy gateway answers `/live` only after its current work, so the time includes that work.
  await (await fetch(`${whole.stack.adminUrl('gateway', 0)}/live`)).text();
  const threads = `/proc/${whole.stack.pid('gateway', 0)}/task`;
  const ranNs = readdirSync(threads).map((thread) => {
    const [ns] = readFileSync(join(threads, thread, 'schedstat'), 'utf8').split(' ');
    return Number(ns);
  });
  return ranNs.reduce((sum, ns) => sum + ns, 0) / nsPerMs;
}

/** The gateway's processor time at the end of the last sample. The next sample starts from it. */
let usedMs = 0;

/**
 * Sends one request and returns the gateway's processor time for it, in milliseconds. The time
 * includes the request to `/live` that follows.
 */
async function costMs(operation: Operation, worst: Partial<WorstCase>): Promise<number> {
  const before = usedMs;
  const { status } = await send(gatewayUrl, requestOf(operation, worst));
  if (status >= 500 || status === 429)
    throw new Error(`${operation.method} ${operation.target}: ${status}`);
  usedMs = await gatewayCpuMs();
  return usedMs - before;
}

/**
 * The median cost of `plainSamples` plain requests, but at least `plainMsMin`. One more request
 * comes first: it only warms up the gateway, and its cost does not count.
 */
async function plainCostMs(operation: Operation, plain: Partial<WorstCase>): Promise<number> {
  await costMs(operation, plain);
  const costs: number[] = [];
  for (let sample = 0; sample < plainSamples; sample += 1) {
    costs.push(await costMs(operation, plain));
  }
  const median = costs.toSorted((a, b) => a - b)[Math.floor(plainSamples / 2)] ?? 0;
  return Math.max(median, plainMsMin);
}

/** Expects that each worst case costs at most `ratioMax` times as much as a plain request. */
async function expectNotTooDear(
  operation: Operation,
  plain: Partial<WorstCase>,
  cases: readonly WorstCase[],
): Promise<void> {
  const plainMs = await plainCostMs(operation, plain);
  const found: string[] = [];
  for (const worst of cases) {
    let leastMs = Infinity;
    // One sample within the limit is enough: other work of the gateway only adds to a sample.
    for (let sample = 0; sample < samplesMax && leastMs > ratioMax * plainMs; sample += 1) {
      leastMs = Math.min(leastMs, await costMs(operation, worst));
    }
    if (leastMs <= ratioMax * plainMs) continue;
    found.push(`${worst.name}: ${leastMs.toFixed(1)} ms, plain ${plainMs.toFixed(1)} ms`);
  }
  expect(found).toEqual([]);
}

function takesBody({ method, target, signer }: Operation): boolean {
  return method !== 'GET' && signer !== 'nobody' && !/\/(?:cancel|redeliver|test)$/.test(target);
}

const title = '$method $target as $signer';
const open = operations.filter(({ signer }) => signer === 'nobody');

test.each(operations)(
  `${title} costs about as much with the worst queries and headers`,
  (operation) => expectNotTooDear(operation, {}, [...worstQueries, ...worstHeaders]),
);

test.each(open)(`${title} costs about as much with the worst forms and bodies`, (operation) =>
  expectNotTooDear(operation, {}, worstForms),
);

test.each(operations.filter(takesBody))(
  `${title} costs about as much with the worst bodies as with a plain one`,
  (operation) => {
    const isSubmission = /^\/v1\/(?:submissions|quotes)$/.test(operation.target);
    const cases = isSubmission ? [...worstBodies, ...worstSubmissions] : worstBodies;
    return expectNotTooDear(operation, { body: plainBody }, cases);
  },
);
