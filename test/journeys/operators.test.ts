import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@svc/client';
import {
  createWebhookReceiver,
  sendSigned,
  startStack,
  type TestStack,
  waitUntil,
} from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditMoney } from '../support/audit.ts';
import { application, clientOf, connectNode } from '../support/journey.ts';
import { svcOn, type Svc } from '../support/svc.ts';

let stack: TestStack;
let svc: Svc;
let receiver: Awaited<ReturnType<typeof createWebhookReceiver>>;
beforeAll(async () => {
  [stack, receiver] = await Promise.all([startStack({ gateways: 2 }), createWebhookReceiver()]);
  svc = svcOn(stack);
});
afterAll(async () => {
  await stack.close();
  await receiver.close();
});

/** The time within which a change made with `svc` is in force at every gateway. */
const inForceMs = 5_000;
/** Extra time for a loaded machine. */
const graceMs = 3_000;

async function newTenant(...more: string[]) {
  const words = ['tenant', 'create', '--name', 'Example Works', ...more];
  const tenant = await svc.json<Record<'tenantId' | 'hmacSecret' | 'webhookSecret', string>>(
    ...words,
  );
  const { tenantId, hmacSecret, webhookSecret } = tenant;
  return { tenantId, hmacSecret, webhookSecret };
}

async function statuses(tenantId: string, secret: string, header = 'X-SVC-Tenant') {
  const answers = await Promise.all(
    stack.gatewayUrls.map((baseUrl) =>
      sendSigned({
        baseUrl,
        method: 'GET',
        target: '/v1/settings',
        tenantId,
        secret,
        identityHeader: header,
      }),
    ),
  );
  return answers.map(({ status }) => status);
}

function soon(check: () => Promise<boolean>): Promise<unknown> {
  return waitUntil(check, { timeoutMs: inForceMs + graceMs });
}

const all = (status: number) => (found: number[]) => found.every((one) => one === status);

test('every gateway refuses a disabled tenant within five seconds, and accepts it again when enabled', async () => {
  const { tenantId, hmacSecret } = await newTenant();
  expect(await statuses(tenantId, hmacSecret)).toEqual([200, 200]);
  const disabled = await svc.json('tenant', 'disable', tenantId);
  expect(disabled).toMatchObject({ tenantId, disabledAt: expect.stringMatching(/Z$/) });
  await soon(async () => all(401)(await statuses(tenantId, hmacSecret)));
  expect(await svc.json('tenant', 'enable', tenantId)).toMatchObject({ disabledAt: null });
  await soon(async () => all(200)(await statuses(tenantId, hmacSecret)));
  const changes = await svc.list('audit', 'list', '--subject', tenantId);
  expect(changes.map(({ action }) => action)).toEqual([
    'tenant.enable',
    'tenant.disable',
    'tenant.create',
  ]);
});

test('the API applies every tenant setting that an operator changes', async () => {
  const { tenantId, hmacSecret } = await newTenant('--grant', '2000');
  const update = `tenant update ${tenantId} --allow none --webhook-url ${receiver.url} --rate 7`;
  const limits = '--in-flight 40 --webhook-cap 900';
  const words = `${update} --burst 21 --rebate 2.5 --low-balance 2500 ${limits}`.split(' ');
  const tenant = await svc.json(...words);
  expect(tenant).toMatchObject({
    allowedJobTypes: [],
    webhookUrl: receiver.url,
    rateLimit: { perSecond: 7, burst: 21 },
    rebatePercent: 2.5,
    inFlightMax: 40,
    webhookAttemptsPerHour: 900,
    lowBalanceThreshold: 2_500,
  });
  const settings = () =>
    sendSigned({
      baseUrl: stack.gatewayUrl,
      method: 'GET',
      target: '/v1/settings',
      tenantId,
      secret: hmacSecret,
    });
  await waitUntil(
    async () => (await settings()).headers['ratelimit-policy'] === '"tenant";q=21;w=3',
  );
  expect((await settings()).json()).toMatchObject({
    webhookUrl: receiver.url,
    allowedJobTypes: [],
  });
  // The new threshold is above the balance, so the service sends the event to the new URL.
  await receiver.waitFor(({ event }) => event.type === 'credits.low_balance', {
    timeoutMs: 10_000,
  });
  const client = createClient({ baseUrl: stack.gatewayUrl, tenantId, secret: hmacSecret });
  await expect(client.submit(application('barred'))).rejects.toMatchObject({
    code: 'job_type_not_allowed',
  });
  const cleared = await svc.json('tenant', 'update', tenantId, '--webhook-url', 'none');
  expect(cleared).toMatchObject({ webhookUrl: null, rateLimit: { perSecond: 7 } });
  const [entry] = await svc.list('audit', 'list', '--subject', tenantId, '--limit', '1');
  expect(entry).toMatchObject({
    action: 'tenant.update',
    by: { kind: 'local' },
    before: { webhookUrl: receiver.url },
    after: { webhookUrl: null },
  });
});

test('a rotation never locks out a client silently: two secrets are valid, a third needs --force', async () => {
  const { tenantId, hmacSecret: first } = await newTenant();
  const rotate = ['tenant', 'rotate-secret', tenantId, '--hmac'];
  const rotated = await svc.json(...rotate, '--overlap', '1h');
  const second = String(rotated['hmacSecret']);
  expect(second).toMatch(/^hsk_test_/);
  const leftMs = new Date(String(rotated['previousValidUntil'])).getTime() - Date.now();
  expect(Math.abs(leftMs - 3_600_000)).toBeLessThan(60_000);
  await soon(async () => all(200)(await statuses(tenantId, second)));
  expect(await statuses(tenantId, first)).toEqual([200, 200]);
  const refused = await svc.run(rotate);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('--force');
  const third = String((await svc.json(...rotate, '--force'))['hmacSecret']);
  await soon(async () => all(401)(await statuses(tenantId, first)));
  await soon(async () => all(200)(await statuses(tenantId, third)));
  const webhook = await svc.json(
    'tenant',
    'rotate-secret',
    tenantId,
    '--webhook',
    '--overlap',
    '0',
  );
  expect(webhook['webhookSecret']).toMatch(/^whsec_/);
  const log = JSON.stringify(await svc.list('audit', 'list', '--subject', tenantId));
  for (const secret of [first, second, third, String(webhook['webhookSecret'])]) {
    expect(log).not.toContain(secret);
  }
});

test('the API and svc refuse a disabled operator within five seconds', async () => {
  const { operatorId, operatorSecret } = await svc.json<
    Record<'operatorId' | 'operatorSecret', string>
  >('operator', 'create', '--name', 'Ana, billing');
  const { tenantId } = await newTenant('--grant', '0');
  const buy = async (reference: string) => {
    const answers = await Promise.all(
      stack.gatewayUrls.map((baseUrl) =>
        sendSigned({
          baseUrl,
          method: 'POST',
          target: '/v1/credits/purchase',
          tenantId: operatorId,
          secret: operatorSecret,
          identityHeader: 'X-SVC-Operator',
          body: JSON.stringify({ tenantId, credits: 5, reference }),
        }),
      ),
    );
    return answers.map(({ status }) => status).toSorted((a, b) => a - b);
  };
  expect(await buy('INV-1')).toEqual([200, 201]);
  const env = { SVC_OPERATOR_ID: operatorId, SVC_OPERATOR_SECRET: operatorSecret };
  const granted = await svc.run(
    ['credits', 'grant', tenantId, '10', '--reference', 'INV-2', '--usd', '0.1', '--json'],
    env,
  );
  expect(JSON.parse(granted.stdout)).toMatchObject({ credits: 10, balance: { after: 15 } });
  const grants = await svc.list('audit', 'list', '--by', operatorId, '--action', 'credits.grant');
  expect(grants).toMatchObject([
    {
      by: { kind: 'operator', id: operatorId, name: 'Ana, billing' },
      after: { reference: 'INV-2' },
    },
    { by: { kind: 'operator', id: operatorId }, after: { reference: 'INV-1' } },
  ]);
  await svc.json('operator', 'disable', operatorId);
  expect(await svc.run(['tenant', 'list'], env)).toMatchObject({ code: 1, stdout: '' });
  await soon(async () => all(401)(await buy('INV-3')));
});

test('an operator cancels a run: full refund, the node stops, the event names who cancelled it', async () => {
  const tenant = await newTenant('--grant', '500', '--webhook-url', receiver.url);
  const client = clientOf(tenant, stack.gatewayUrl);
  const node = await connectNode({ stack });
  const creation = client.submit(application('cancelled by us'));
  node.send({ type: 'accept', offerId: (await node.next('offer')).offerId });
  const { submissionId } = await node.next('assign');
  await creation;
  node.send({ type: 'start', submissionId });
  await node.next('begin');
  node.send({ type: 'usage', submissionId, usage: { nodeSeconds: 1.5 } });
  const listed = await svc.list('submission', 'list', '--tenant', tenant.tenantId);
  expect(listed).toMatchObject([
    { id: submissionId, tenantId: tenant.tenantId, status: 'running' },
  ]);
  expect(await svc.list('submission', 'list', '--status', 'running')).toMatchObject(listed);
  expect(await svc.json('submission', 'cancel', submissionId)).toEqual({
    submissionId,
    status: 'cancelled',
    refund: { amount: 200, charged: 0 },
  });
  expect(await node.next('cancel')).toMatchObject({ submissionId });
  const webhook = await receiver.waitFor(
    ({ event }) => event.data['submissionId'] === submissionId,
  );
  expect(webhook.event).toMatchObject({ type: 'submission.cancelled', data: { by: 'operator' } });
  expect(await client.balance()).toMatchObject({ balance: 500, held: 0 });
  expect(await client.getSubmission(submissionId)).toMatchObject({ status: 'cancelled' });
  const again = await svc.run(['submission', 'cancel', submissionId]);
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toContain('has ended: it is cancelled');
  const shown = await svc.json('submission', 'show', submissionId);
  expect(shown).toMatchObject({
    ...(await client.getSubmission(submissionId)),
    cancelledBy: 'operator',
  });
  const entries = await svc.list('audit', 'list', '--subject', submissionId);
  expect(entries).toMatchObject([{ action: 'submission.cancel', after: { refunded: '200' } }]);
  expect(await auditMoney(stack.query)).toEqual([]);
  await showsTheTimeline(submissionId, node.nodeId);
  await node.close();
});

async function showsTheTimeline(submissionId: string, nodeId: string): Promise<void> {
  await waitUntil(async () => {
    const { story } = await svc.json('trace', submissionId);
    return JSON.stringify(story).includes('delivered');
  });
  const trace = await svc.json<{ story: { what: string; at: string }[]; requestId: string }>(
    'trace',
    submissionId,
  );
  const { story } = trace;
  // These entries have no fixed position in the story, which is sorted by time. The times of
  // entries of one transaction are equal or differ by a millisecond.
  const unordered = ['accepted', 'assignment', 'release', 'ended'];
  const happened = story.map(({ what }) => what);
  expect(happened.filter((what) => !unordered.includes(what)).join(', ')).toBe(
    'quote, hold, offer, begin, usage, event, delivery, attempt, delivered',
  );
  expect(happened.filter((what) => unordered.includes(what)).toSorted()).toEqual(
    unordered.toSorted(),
  );
  expect(story.map(({ at }) => at)).toEqual(story.map(({ at }) => at).toSorted());
  expect(trace).toMatchObject({
    requestId: expect.stringMatching(/./),
    offers: [{ nodeId, answer: 'accepted' }],
    entries: [
      { type: 'hold', amount: 200 },
      { type: 'release', amount: 200 },
    ],
    usageReports: [{ usage: { nodeSeconds: expect.any(Number) } }],
  });
  const { stdout } = await svc.run(['trace', submissionId]);
  for (const word of [trace.requestId, nodeId, 'Example Works', 'answered 20']) {
    expect(stdout).toContain(word);
  }
}

test('a rate card is checked, shown as a difference, and in force as a new version', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-card-'));
  const file = path.join(directory, 'card.json');
  try {
    const { tenantId, hmacSecret } = await newTenant();
    const client = createClient({ baseUrl: stack.gatewayUrl, tenantId, secret: hmacSecret });
    const card = await svc.json<{
      version: number;
      jobTypes: { tiers: { standard: { max: number } } }[];
    }>('rate-card', 'show');
    const { surgeMultiplier: _, ...prices } = await client.rateCard();
    expect(card).toMatchObject(prices);
    writeFileSync(file, JSON.stringify(card));
    expect(await svc.json('rate-card', 'apply', file)).toEqual({
      version: card.version,
      tenantId: null,
      changes: [],
    });
    const [entry] = card.jobTypes;
    if (entry === undefined) throw new Error('the rate card has no job type');
    entry.tiers.standard.max = 150.5;
    writeFileSync(file, JSON.stringify(card));
    const applied = await svc.json('rate-card', 'apply', file, '--tenant', tenantId);
    expect(applied).toMatchObject({
      tenantId,
      changes: [{ path: 'ats.application/standard/max', before: '200', after: '150.5' }],
    });
    await svc.json('surge', 'pin', '1');
    await soon(async () => {
      const { version, surgeMultiplier } = await client.rateCard();
      return version === applied['version'] && surgeMultiplier === 1;
    });
    const { jobType, payload } = application('quoted');
    const answer = await sendSigned({
      baseUrl: stack.gatewayUrl,
      method: 'POST',
      target: '/v1/quotes',
      tenantId,
      secret: hmacSecret,
      body: JSON.stringify({ jobType, payload }),
    });
    // The estimate is still that of the default card, so the new card has kept `typicalUsage`,
    // which the tenant cannot read.
    expect(answer.json()).toMatchObject({ quote: { max: 150.5, estimated: 42.95 } });
    expect(await svc.list('rate-card', 'history', '--tenant', tenantId)).toMatchObject([
      { version: applied['version'], tenantId },
    ]);
    expect(await svc.json('rate-card', 'show')).toMatchObject({ version: card.version });
    for (const [broken, why] of [
      ['{"usdPerCredit":', 'not a valid rate card'],
      [JSON.stringify({ ...card, usdPerCredits: 1 }), 'usdPerCredits is not known'],
      [JSON.stringify(card).replace('"min":10', '"min":1000'), 'must not be greater than max'],
    ] as const) {
      writeFileSync(file, broken);
      const refused = await svc.run(['rate-card', 'apply', file]);
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toContain(why);
    }
    const missing = await svc.run(['rate-card', 'apply', path.join(directory, 'none.json')]);
    expect(missing).toMatchObject({ code: 1, stdout: '' });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test('a paused queue keeps its jobs until it is resumed', async () => {
  const tenant = await newTenant('--grant', '1000');
  const client = clientOf(tenant, stack.gatewayUrl);
  const node = await connectNode({ stack }, { slots: 2 });
  node.autoPilot();
  expect(await svc.json('queue', 'pause', 'dispatch')).toMatchObject({ paused: true });
  const refused = client.submit(application('while paused'));
  const waiting = await waitUntil(async () => {
    const [queue] = await svc.list('queue', 'status');
    return queue?.['waiting'] === 1 ? queue : undefined;
  });
  expect(waiting).toMatchObject({ queue: 'dispatch.v1', paused: true, failed: 0 });
  expect(waiting['oldestWaitingMs']).toEqual(expect.any(Number));
  await expect(refused).rejects.toMatchObject({ code: 'dispatch_unavailable' });
  expect(await svc.json('queue', 'resume', 'dispatch.v1')).toMatchObject({ paused: false });
  await waitUntil(async () => {
    const [queue] = await svc.list('queue', 'status');
    return queue?.['waiting'] === 0;
  });
  expect(await client.submit(application('once resumed'))).toMatchObject({ status: 'dispatched' });
  expect(await svc.json('queue', 'retry-failed', 'dispatch')).toMatchObject({ retried: 0 });
  expect(await svc.json('queue', 'retry-failed', 'webhook')).toMatchObject({ madeDue: 0 });
  const changes = await svc.list('audit', 'list', '--subject', 'queue:dispatch');
  expect(changes.map(({ action }) => action)).toEqual([
    'queue.retry_failed',
    'queue.resume',
    'queue.pause',
  ]);
  await node.close();
});

test('the doctor finds no fault in a running stack', async () => {
  const { stdout, stderr } = await svc.run(['doctor', '--json']);
  expect(stderr).toBe('');
  const findings: { check: string; state: string; found: string }[] = JSON.parse(stdout);
  // The check `durability` finds a fault, because the tests' Postgres runs with `fsync` off.
  const faults = findings.filter(({ state, check }) => state === 'fault' && check !== 'durability');
  expect(faults).toEqual([]);
  const stateOf = new Map(findings.map(({ check, state }) => [check, state]));
  for (const check of ['services', 'versions', 'pools', 'clocks', 'retention'])
    expect([check, stateOf.get(check)]).toEqual([check, 'ok']);
});

test('the status names every process, queue and slot, and the last verdict on the ledger', async () => {
  const node = await connectNode({ stack }, { slots: 3 });
  await svc.json('ledger', 'verify');
  await waitUntil(async () => {
    const { fleet } = await svc.json('status');
    return JSON.stringify(fleet) === JSON.stringify({ slots: 3, free: 3, busy: 0 });
  });
  const status = await svc.json<{ services: { service: string; state: string }[] }>('status');
  expect(status).toMatchObject({
    environment: 'sandbox',
    redis: 'reachable',
    ledger: { faults: 0, tenants: expect.any(Number) },
    queues: ['dispatch.v1', 'settlement.v1', 'webhook.v1'].map((queue) => ({ queue })),
  });
  expect(status.services.map(({ service, state }) => `${service} ${state}`)).toEqual([
    'dispatcher running',
    'gateway running',
    'gateway running',
    'settlement running',
    'webhooks running',
  ]);
  await node.close();
});
