import { dispatchDeadlineMs, toWireId } from '@svc/domain';
import { publishKeys, resealPage, sealedColumns } from '@svc/store';
import { openRotated } from '@svc/store/fixture';
import { type RawResponse, sendSigned, waitUntil } from '@svc/testkit';
import { afterEach, expect, test } from 'vitest';
import { type GatewayFixture, startGateways } from './gateway.fixture.ts';

let gateways: GatewayFixture;
afterEach(() => gateways.close());

const body = {
  idempotencyKey: 'a',
  jobType: 'ats.application',
  payload: {
    applicationUrl: 'https://jobs.example.com/apply/8841',
    atsType: 'greenhouse',
    applicantProfile: {},
    jobContext: { title: 'Welder', company: 'Example Works' },
  },
};
const creation = { method: 'POST', target: '/v1/submissions', body };

const ready = () =>
  sendSigned({ baseUrl: gateways.baseUrls[0] ?? '', method: 'GET', target: '/ready' });

function expectation(response: RawResponse) {
  const { status, headers } = response;
  return { status, retryAfter: headers['retry-after'], body: response.json() };
}

test('without Redis a creation is 503 and holds nothing; reads and cancels still work', async () => {
  gateways = await startGateways();
  const tenant = await gateways.tenant();
  const created = await tenant.send(creation);
  expect(created.status).toBe(201);
  const location = `/v1/submissions/${created.text.match(/sub_[0-9a-z]+/)?.[0] ?? ''}`;
  await gateways.endRedis();
  await waitUntil(async () => (await ready()).status === 503, { what: 'the loss to be noticed' });
  expect((await ready()).json()).toEqual({ status: 'not_ready', missing: ['redis'] });

  const refused = await tenant.send({ ...creation, body: { ...body, idempotencyKey: 'b' } });
  expect(expectation(refused)).toMatchObject({
    status: 503,
    retryAfter: '1',
    body: { code: 'unavailable', retryAfterSeconds: 1 },
  });
  expect((await tenant.send(creation)).status).toBe(200);
  expect((await tenant.send({ target: location })).status).toBe(200);
  expect((await tenant.send({ target: '/v1/rate-card' })).status).toBe(200);
  const cancelled = await tenant.send({ method: 'POST', target: `${location}/cancel` });
  expect(cancelled.status).toBe(200);
  const balance = await tenant.send({ target: '/v1/credits/balance' });
  expect(balance.json()).toMatchObject({ held: 0, available: 10_000 });
  // The rate limit works without Redis, because each gateway then counts by itself.
  expect(balance.headers['ratelimit']).toMatch(/^"tenant";r=1\d\d;t=\d$/);
  const settings = { webhookUrl: 'https://hooks.example.com/' };
  const changed = await tenant.send({ method: 'PATCH', target: '/v1/settings', body: settings });
  expect(changed.json()).toMatchObject(settings);
  const queued = await tenant.send({ method: 'POST', target: '/v1/webhooks/test' });
  expect(queued.status).toBe(202);
});

test('without a master key the gateway is not ready, and answers 503 to tenants that need the key', async () => {
  gateways = await startGateways();
  const [tenant, other] = [await gateways.tenant(), await gateways.tenant()];
  const rotated = openRotated(gateways);
  await publishKeys(rotated, { id: rotated.newId(), service: 'gateway', host: 'beta' });
  expect((await ready()).json()).toEqual({ status: 'not_ready', missing: ['masterKey'] });
  expect((await other.send({ target: '/v1/credits/balance' })).status).toBe(200);
  for (const column of sealedColumns.filter(({ table }) => table === 'tenant_secrets'))
    await resealPage(rotated, column, null);
  await rotated.close();
  const refused = await tenant.send({ target: '/v1/credits/balance' });
  expect(expectation(refused)).toMatchObject({
    status: 503,
    retryAfter: '1',
    body: { code: 'unavailable', retryAfterSeconds: 1 },
  });
});

test('without Postgres every answer is 503 with Retry-After', async () => {
  gateways = await startGateways();
  const tenant = await gateways.tenant();
  await tenant.send({ target: '/v1/rate-card' });
  await gateways.gate.close();
  const stranger = await gateways.tenant();
  const answers = await Promise.all([
    tenant.send(creation),
    tenant.send({ target: '/v1/credits/balance' }),
    tenant.send({
      method: 'POST',
      target: `/v1/submissions/${toWireId('sub', tenant.uuid)}/cancel`,
    }),
    stranger.send({ target: '/v1/rate-card' }),
  ]);
  for (const answer of answers) {
    expect(expectation(answer)).toMatchObject({
      status: 503,
      retryAfter: '1',
      body: { code: 'unavailable' },
    });
    expect(answer.text).not.toMatch(/127\.0\.0\.1|prisma|ECONN/i);
  }
  expect(expectation(await ready())).toMatchObject({
    status: 503,
    body: { status: 'not_ready', missing: ['postgres'] },
  });
});

test('a read-only Postgres is an unreachable one, and a creation succeeds at once after its end', async () => {
  gateways = await startGateways();
  const tenant = await gateways.tenant();
  const { query } = gateways.database;
  const [row] = await query<{ name: string }>('SELECT current_database() AS name');
  await query(`ALTER DATABASE ${row?.name} SET default_transaction_read_only = on`);
  // The next sessions of the gateways keep the setting after it has been reset.
  await query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'gateway'`);
  await waitUntil(async () => (await ready()).status === 503, { what: 'the end of the sessions' });
  const answers = await Promise.all([
    tenant.send(creation),
    tenant.send({ target: '/v1/credits/balance' }),
    tenant.send({ method: 'PATCH', target: '/v1/settings', body: { lowBalanceThreshold: 1 } }),
  ]);
  for (const answer of answers) {
    expect(expectation(answer)).toMatchObject({
      status: 503,
      retryAfter: '1',
      body: { code: 'unavailable' },
    });
  }
  expect((await ready()).json()).toEqual({ status: 'not_ready', missing: ['postgres'] });
  await query(`ALTER DATABASE ${row?.name} RESET default_transaction_read_only`);
  expect((await ready()).status).toBe(200);
  expect((await tenant.send(creation)).status).toBe(201);
});

test('creations with a committed hold and no answer reach a node, each once', async () => {
  gateways = await startGateways();
  const tenant = await gateways.tenant();
  await tenant.send({ target: '/v1/rate-card' });
  gateways.gate.loseAnswerTo('key-b');
  const keys = ['key-a', 'key-b', 'key-c'];
  const answers = await Promise.all(
    keys.map((idempotencyKey) => tenant.send({ ...creation, body: { ...body, idempotencyKey } })),
  );
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(new Set(gateways.dispatched).size).toBe(3);
  expect(gateways.dispatched).toHaveLength(3);
  const balance = await tenant.send({ target: '/v1/credits/balance' });
  expect(balance.json()).toMatchObject({ held: 600 });
});

test('while Postgres does not answer, every creation is 503 within the dispatch deadline', async () => {
  gateways = await startGateways();
  const tenant = await gateways.tenant();
  await tenant.send(creation);
  gateways.gate.stall();
  const startedMs = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      tenant.send({ ...creation, body: { ...body, idempotencyKey: `key-${index}` } }),
    ),
  );
  // The limit is twice the deadline, because other tests may keep the machine busy. A gateway that
  // waits 15 s for a hanging statement fails the test.
  expect(performance.now() - startedMs).toBeLessThan(2 * dispatchDeadlineMs);
  for (const answer of answers) {
    expect(expectation(answer)).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  }
  // Closing the gate ends the hanging statements. Otherwise the close of the gateways would wait for
  // these statements.
  await gateways.gate.close();
});
