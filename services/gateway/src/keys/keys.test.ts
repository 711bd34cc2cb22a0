import { AuditPage, DeliveryPage, KeyCreated, KeyList } from '@svc/contracts';
import { fromWireId } from '@svc/domain';
import { createLogger, newId, systemClock } from '@svc/runtime';
import { changeSettings, rotateTenantSecret } from '@svc/store';
import { advanceDatabaseClock, type RawResponse, testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createKeyUses } from '../access/key-uses.ts';
import { bodyOf, problemOf, submission } from '../answers.fixture.ts';
import { type TestTenant, useGateways } from '../gateway.fixture.ts';

/** The gateways take the client's address from `x-forwarded-for`. */

const gateways = await useGateways({ TRUST_PROXY: 'loopback' });
const [one = '', other = ''] = gateways.baseUrls;

interface SignedBy {
  readonly key?: { readonly keyId: string; readonly hmacSecret: string } | undefined;
  readonly baseUrl?: string;
  readonly address?: string;
  readonly body?: object;
}

function send(
  tenant: TestTenant,
  request: string,
  { key, baseUrl = one, address = '203.0.113.7', body }: SignedBy = {},
): Promise<RawResponse> {
  const [method = '', target = ''] = request.split(' ');
  return tenant.send({
    method,
    target,
    baseUrl,
    ...(key === undefined ? {} : { secret: key.hmacSecret }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: {
      'content-type': 'application/json',
      'x-request-id': 'same',
      'x-forwarded-for': address,
      ...(key === undefined ? {} : { 'x-svc-key': key.keyId }),
    },
  });
}

const sendAll = (tenant: TestTenant, request: string, options: SignedBy = {}) =>
  Promise.all(gateways.baseUrls.map((baseUrl) => send(tenant, request, { ...options, baseUrl })));

async function newKey(tenant: TestTenant, body: object = {}, key?: SignedBy['key']) {
  const response = await send(tenant, 'POST /v1/keys', { body, key });
  return bodyOf(response, KeyCreated);
}

const keysOf = async (tenant: TestTenant) =>
  bodyOf(await send(tenant, 'GET /v1/keys'), KeyList).data;

async function firstKeyOf(tenant: TestTenant) {
  const keyId = (await keysOf(tenant)).at(-1)?.keyId ?? '';
  return { keyId, hmacSecret: tenant.secret };
}

test('a named key signs requests under its own secret, the first key stays valid, and both show their last use', async () => {
  const tenant = await gateways.tenant();
  const key = await newKey(tenant, {
    scopes: ['settings', 'read'],
    addresses: ['203.0.113.0/24', '2001:DB8::/32'],
    expiresInDays: 30,
  });
  const at = expect.stringMatching(/^20.*Z$/);
  const shown = {
    keyId: expect.stringMatching(/^key_/),
    scopes: ['read', 'settings'],
    addresses: ['203.0.113.0/24', '2001:db8::/32'],
    createdAt: at,
    expiresAt: at,
    lastUsedAt: null,
  };
  expect(key).toEqual({ ...shown, hmacSecret: expect.stringMatching(/^hsk_test_/) });
  expect(Date.parse(key.expiresAt ?? '') - Date.parse(key.createdAt)).toBe(30 * 86_400_000);
  expect((await send(tenant, 'GET /v1/settings', { key })).status).toBe(200);
  const minute = expect.stringMatching(/:00\.000Z$/);
  const all = { scopes: ['read', 'spend', 'settings'], addresses: [], expiresAt: null };
  const [named, first] = await keysOf(tenant);
  expect(named).toEqual({ ...shown, keyId: key.keyId, lastUsedAt: minute });
  expect(first).toMatchObject({ ...all, lastUsedAt: minute });
  const firstKey = await firstKeyOf(tenant);
  expect((await send(tenant, 'GET /v1/settings', { key: firstKey })).status).toBe(200);
});

test.each(['read', 'spend', 'settings'])(
  'a key with the scope %s gets 403 scope_missing elsewhere',
  async (scope) => {
    const tenant = await gateways.tenant();
    const key = await newKey(tenant, { scopes: [scope] });
    const requests = {
      read: ['GET /v1/audit', 'GET /v1/keys', 'GET /v1/submissions', 'POST /v1/quotes'],
      spend: [
        'POST /v1/submissions',
        'POST /v1/submissions/sub_x/cancel',
        'POST /v1/credits/purchase-intents',
      ],
      settings: [
        'PATCH /v1/settings',
        'POST /v1/keys',
        'DELETE /v1/keys/key_x',
        'POST /v1/webhooks/test',
      ],
    };
    for (const [needed, all] of Object.entries(requests)) {
      for (const request of all) {
        const response = await send(tenant, request, { key, body: { scopes: [scope] } });
        const code = response.status < 400 ? 'none' : problemOf(response).code;
        expect([request, code === 'scope_missing']).toEqual([request, needed !== scope]);
      }
    }
  },
);

test('a key that may not be used gets the answer of an unknown tenant, byte for byte', async () => {
  const tenant = await gateways.tenant();
  const elsewhere = await newKey(tenant, { addresses: ['198.51.100.0/24', '2001:db8::/32'] });
  const brief = await newKey(tenant, { expiresInDays: 1 });
  const first = await firstKeyOf(tenant);
  const request = 'GET /v1/settings';
  expect((await send(tenant, request, { key: brief })).status).toBe(200);
  for (const address of ['198.51.100.9', '2001:db8::7', '::ffff:198.51.100.9'])
    expect((await send(tenant, request, { key: elsewhere, address })).status).toBe(200);
  await advanceDatabaseClock(gateways.database.databaseUrl, 86_400_001);
  gateways.advanceCaches(86_400_001);
  const stranger = await gateways.tenant();
  const refused = [
    ...(await sendAll(tenant, request, { key: elsewhere })),
    ...(await sendAll(tenant, request, { key: brief })),
    await send(tenant, 'POST /v1/submissions', { key: brief, body: submission('a') }),
    await send(tenant, request, { key: { ...brief, keyId: first.keyId } }),
    await send(tenant, request, { key: { ...brief, hmacSecret: tenant.secret } }),
    await send(stranger, request, { key: elsewhere, address: '198.51.100.9' }),
    await send(tenant, request, { key: { ...elsewhere, keyId: 'key_x' }, address: '198.51.100.9' }),
  ];
  const unknown = await tenant.send({
    target: '/v1/settings',
    tenantId: 'tnt_nobody',
    headers: { 'x-request-id': 'same' },
  });
  expect(unknown.status).toBe(401);
  expect(new Set(refused.map(({ text }) => text))).toEqual(new Set([unknown.text]));
  expect((await keysOf(tenant)).map(({ keyId }) => keyId)).not.toContain(brief.keyId);
});

test('a deleted key stops creations at once and other requests within five seconds, on every gateway', async () => {
  const tenant = await gateways.tenant();
  const key = await newKey(tenant, { addresses: ['203.0.113.0/24'] });
  for (const { status } of await sendAll(tenant, 'GET /v1/settings', { key }))
    expect(status).toBe(200);
  expect((await send(tenant, 'POST /v1/submissions', { key, body: submission('0') })).status).toBe(
    201,
  );
  gateways.advanceCaches(5_000);
  const before = gateways.gate.roundTrips();
  const create = { key, body: submission('a') };
  expect((await send(tenant, 'POST /v1/submissions', create)).status).toBe(201);
  expect(gateways.gate.roundTrips() - before, 'the hold and nothing else').toBe(1);
  expect((await send(tenant, `DELETE /v1/keys/${key.keyId}`, { baseUrl: other })).status).toBe(204);
  for (const { status } of await sendAll(tenant, 'POST /v1/submissions', create))
    expect(status).toBe(401);
  gateways.advanceCaches(5_000);
  for (const { status } of await sendAll(tenant, 'GET /v1/settings', { key }))
    expect(status).toBe(401);
  const again = await send(tenant, `DELETE /v1/keys/${key.keyId}`);
  const foreign = await send(await gateways.tenant(), `DELETE /v1/keys/${key.keyId}`);
  expect(again.status).toBe(404);
  expect(foreign.text).toBe(again.text);
});

test('a request with a named key costs as many statements as one with a first key', async () => {
  const tenant = await gateways.tenant();
  const key = await newKey(tenant, { addresses: ['203.0.113.0/24'], expiresInDays: 90 });
  const statements = async (by: SignedBy) => {
    const counts: number[] = [];
    for (const advanceMs of [5_000, 0]) {
      gateways.advanceCaches(advanceMs);
      const before = gateways.gate.roundTrips();
      expect((await send(tenant, 'GET /v1/credits/balance', by)).status).toBe(200);
      counts.push(gateways.gate.roundTrips() - before);
    }
    return counts;
  };
  expect(await statements({ key })).toEqual(await statements({}));
});

test('of the last two keys that may change settings one stays, even if both are deleted at once', async () => {
  const tenant = await gateways.tenant();
  const second = await newKey(tenant, { scopes: ['settings'] });
  await newKey(tenant, { scopes: ['read', 'spend'] });
  const first = await firstKeyOf(tenant);
  await sendAll(tenant, 'GET /v1/settings');
  const answers = await Promise.all([
    send(tenant, `DELETE /v1/keys/${first.keyId}`, { baseUrl: one }),
    send(tenant, `DELETE /v1/keys/${second.keyId}`, { baseUrl: other }),
  ]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 409]);
  for (const answer of answers.filter(({ status }) => status === 409))
    expect(problemOf(answer).code).toBe('last_key');
});

test('a tenant has at most ten valid keys, even if it creates them at once', async () => {
  const tenant = await gateways.tenant();
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      send(tenant, 'POST /v1/keys', { baseUrl: at % 2 === 0 ? one : other, body: {} }),
    ),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(9);
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused.map((answer) => problemOf(answer).code)).toEqual(Array(3).fill('key_limit'));
  expect(await keysOf(tenant)).toHaveLength(10);
});

test('no key gives a scope that it does not have', async () => {
  const tenant = await gateways.tenant();
  const key = await newKey(tenant, { scopes: ['settings'] });
  for (const body of [{}, { scopes: ['read', 'settings'] }]) {
    expect(problemOf(await send(tenant, 'POST /v1/keys', { key, body })).code).toBe(
      'scope_missing',
    );
  }
  expect((await newKey(tenant, { scopes: ['settings'] }, key)).scopes).toEqual(['settings']);
});

test('a limited key makes no key without its limits, and deletes no key that can do more', async () => {
  const tenant = await gateways.tenant({ webhookUrl: 'https://hooks.example.com/svc' });
  const first = await firstKeyOf(tenant);
  const limits = { addresses: ['203.0.113.7/32'], expiresInDays: 1 };
  const key = await newKey(tenant, { scopes: ['settings'], ...limits });
  const refusedBodies = [
    { scopes: ['settings'] },
    { scopes: ['settings'], addresses: limits.addresses },
    { scopes: ['settings'], expiresInDays: 1 },
    { scopes: ['settings'], ...limits, addresses: ['203.0.113.0/24'] },
    { scopes: ['settings'], ...limits, addresses: ['::/0'] },
    { scopes: ['settings'], ...limits, expiresInDays: 2 },
    limits,
  ];
  for (const body of refusedBodies) {
    const answer = await send(tenant, 'POST /v1/keys', { key, body });
    expect([body, problemOf(answer).code]).toEqual([body, 'scope_missing']);
  }
  const removal = await send(tenant, `DELETE /v1/keys/${first.keyId}`, { key });
  expect(problemOf(removal).code).toBe('scope_missing');
  expect(await keysOf(tenant)).toHaveLength(2);
});

test('a key that was edited in the database gets the one 401', async () => {
  const tenant = await gateways.tenant();
  const key = await newKey(tenant, { scopes: ['read'], addresses: ['198.51.100.0/24'] });
  await gateways.database.query(`UPDATE tenant_secrets SET addresses = '{}' WHERE id = $1`, [
    fromWireId('key', key.keyId),
  ]);
  const refused = await sendAll(tenant, 'GET /v1/settings', { key });
  expect(refused.map((answer) => problemOf(answer).code)).toEqual(
    gateways.baseUrls.map(() => 'unauthenticated'),
  );
});

test.each([
  { scopes: [] },
  { scopes: ['read', 'read'] },
  { scopes: ['admin'] },
  { addresses: ['203.0.113.7'] },
  { addresses: ['203.0.113.7/24'] },
  { addresses: Array.from({ length: 21 }, (_, at) => `203.0.113.${at}/32`) },
  { expiresInDays: 0 },
  { expiresInDays: 1.5 },
  { name: 'mine' },
])('a key of %j is refused', async (body) => {
  const tenant = await gateways.tenant();
  expect(problemOf(await send(tenant, 'POST /v1/keys', { body })).code).toBe('validation_error');
});

test('the audit list has every change, newest first, with its key or operator and without secrets', async () => {
  const tenant = await gateways.tenant({ webhookUrl: 'https://hooks.example.com/old' });
  const key = await newKey(tenant);
  const body = { webhookUrl: 'https://hooks.example.com/svc?token=secret' };
  await send(tenant, 'PATCH /v1/settings', { key, body });
  await changeSettings(gateways.store, tenant.uuid, { rateLimitBurst: 9 }, testAuthor);
  const rotation = { kind: 'webhook', secret: 'whsec_2', overlapMs: 0, force: false } as const;
  await rotateTenantSecret(gateways.store, { tenantId: tenant.uuid, ...rotation }, testAuthor);
  await send(tenant, `DELETE /v1/keys/${key.keyId}`);
  await newKey(await gateways.tenant());
  const first = await firstKeyOf(tenant);
  const pages: string[] = [];
  const entries: unknown[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await send(tenant, `GET /v1/audit?limit=2${cursor && `&cursor=${cursor}`}`);
    pages.push(page.text);
    const { data, nextCursor } = bodyOf(page, AuditPage);
    entries.push(...data);
    cursor = nextCursor;
  }
  expect(pages).toHaveLength(3);
  const shown = { keyId: key.keyId, scopes: key.scopes, addresses: [], expiresAt: null };
  const by = { operator: expect.any(String) };
  expect(entries).toMatchObject([
    { what: 'key.deleted', by: { keyId: first.keyId }, before: shown, after: null },
    { what: 'secret.rotated', by, after: { kind: 'webhook' } },
    { what: 'settings.updated', by, after: { rateLimitBurst: 9 } },
    {
      what: 'settings.updated',
      by: { keyId: key.keyId },
      before: { webhookUrl: 'https://hooks.example.com/old' },
      after: { webhookUrl: 'https://hooks.example.com/svc?…' },
      requestId: 'same',
    },
    { what: 'key.created', by: { keyId: first.keyId }, before: null, after: shown },
  ]);
  const sent = bodyOf(await send(tenant, 'GET /v1/webhooks/deliveries'), DeliveryPage).data;
  expect(sent.filter(({ type }) => type === 'settings.changed')).toHaveLength(entries.length);
  for (const secret of ['token', key.hmacSecret, tenant.secret])
    expect(pages.join()).not.toContain(secret);
});

test('a flush of key uses ends only after the earlier flush', async () => {
  const logger = createLogger({ service: 'gateway', level: 'silent' });
  const uses = createKeyUses({ store: gateways.store, clock: systemClock, logger });
  const ended: string[] = [];
  const flushes = await gateways.store.transaction(async (query) => {
    await query('LOCK TABLE tenant_secrets IN EXCLUSIVE MODE', []);
    uses.used(newId());
    return ['first', 'second'].map((name) => uses.flush().then(() => ended.push(name)));
  });
  await Promise.all(flushes);
  expect(ended).toEqual(['first', 'second']);
});

test('a use of a key whose row is locked at the flush is stored by a later flush', async () => {
  const tenant = await gateways.tenant();
  const key = await newKey(tenant);
  const uuid = fromWireId('key', key.keyId) ?? '';
  const logger = createLogger({ service: 'gateway', level: 'silent' });
  const uses = createKeyUses({ store: gateways.store, clock: systemClock, logger });
  await gateways.store.transaction(async (query) => {
    await query('SELECT 1 FROM tenant_secrets WHERE id = $1::uuid FOR UPDATE', [uuid]);
    uses.used(uuid);
    await uses.flush();
  });
  await uses.flush();
  const [row] = await gateways.database.query<{ last_used_at: Date | null }>(
    'SELECT last_used_at FROM tenant_secrets WHERE id = $1',
    [uuid],
  );
  expect(row?.last_used_at).not.toBeNull();
});
