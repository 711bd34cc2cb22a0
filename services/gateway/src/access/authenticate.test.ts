import { compileAddresses, keyScopes, toWireId } from '@svc/domain';
import { sha256Hex, signRequest } from '@svc/signing';
import type { TenantCredentials } from '@svc/store';
import { describe, expect, test } from 'vitest';
import { type Access, authenticate, type Keys } from './authenticate.ts';
import { readSigningHeaders } from './signing-headers.ts';

const tenantId = '019ab000-0000-7000-8000-000000000001';
const keyId = '019ab000-0000-7000-8000-000000000002';
const oldKeyId = '019ab000-0000-7000-8000-000000000003';
const namedId = '019ab000-0000-7000-8000-000000000004';
const operatorId = '019ab000-0000-7000-8000-00000000000b';
const operator = { operatorId, disabled: false, secret: 'osk_1' };
const nowSeconds = 1_795_000_000;
const secrets = ['hsk_test_new', 'hsk_test_old'];
const target = '/v1/credits/balance?x=%20';
const bodySha256 = sha256Hex('');

interface Attempt {
  secret?: string;
  timestamp?: number;
  headers?: NodeJS.Dict<string[]>;
  disabled?: boolean;
  known?: boolean;
  access?: Access;
  address?: string;
  showsKey?: boolean;
}

async function attempt(options: Attempt = {}) {
  const { secret = secrets[0] ?? '', timestamp = nowSeconds, headers = {} } = options;
  const tenant: TenantCredentials = {
    tenantId,
    disabled: options.disabled ?? false,
    allowedJobTypes: [],
    hmacSecrets: secrets,
    keyIds: [keyId, oldKeyId],

    tamperedKeyIds: [],
    scopes: keyScopes,
    addresses: [],
    hasExpiringSecret: false,
    rateLimitPerSecond: 1,
    rateLimitBurst: 1,
    rateCardVersion: 1,
    accountEpoch: 0n,
  };
  const keys: Keys = {
    async tenant(asked) {
      const isKnown = asked.tenantId === tenantId && (options.known ?? true);
      const found = { credentials: tenant, allows: compileAddresses([]), isRecent: true };
      if (!isKnown || asked.keyId === null) return await Promise.resolve(isKnown ? found : null);
      if (asked.keyId !== namedId) return null;
      const credentials = { ...tenant, hmacSecrets: ['hsk_test_named'], keyIds: [namedId] };
      return { ...found, credentials, allows: compileAddresses(['203.0.113.0/24']) };
    },
    operator: async (id) => await Promise.resolve(id === operatorId ? operator : null),
  };
  const answer = await authenticate(
    {
      method: 'GET',
      target,
      bodySha256,
      address: options.address ?? '203.0.113.7',
      headers: readSigningHeaders(
        rawHeadersOf({
          'X-SVC-Tenant': [toWireId('tnt', tenantId)],
          'X-SVC-Timestamp': [String(timestamp)],
          'X-SVC-Signature': [signRequest({ secret, timestamp, method: 'GET', target, body: '' })],
          ...headers,
        }),
      ),
    },
    options.access ?? 'tenant',
    keys,
    nowSeconds * 1000 + 999,
  );
  if (answer.kind !== 'authenticated') return answer;
  const { principal } = answer;
  return options.showsKey === true && principal.kind === 'tenant'
    ? principal.keyId
    : principal.kind;
}

function rawHeadersOf(headers: NodeJS.Dict<string[]>): string[] {
  return Object.entries(headers).flatMap(([name, values = []]) =>
    values.flatMap((value) => [name, value]),
  );
}

const signed = (...values: string[]) => attempt({ headers: { 'X-SVC-Signature': values } });

describe('a tenant’s request', () => {
  test('is accepted under both the newer and the older secret of a rotation', async () => {
    expect(await attempt()).toBe('tenant');
    expect(await attempt({ secret: 'hsk_test_old' })).toBe('tenant');
  });

  test('may have several signatures: one match is enough, other versions are ignored', async () => {
    const parts = { timestamp: nowSeconds, method: 'GET', target, body: '' };
    const right = signRequest({ secret: 'hsk_test_old', ...parts });
    const wrong = signRequest({ secret: 'hsk_test_other', ...parts });
    expect(await signed(`${wrong}, ${right}`)).toBe('tenant');
    expect(await signed(`v2=anything ,${wrong},${right}`)).toBe('tenant');
    expect(await signed(wrong, right)).toBe('tenant');
    expect(await signed(`${wrong},${wrong}`)).toMatchObject({ code: 'unauthenticated' });
    expect(await signed([wrong, wrong, wrong, wrong, right].join())).toMatchObject({
      detail: expect.stringContaining('more than 4'),
    });
  });

  test('is accepted up to 300 s off the clock in either direction, and refused at 301 s', async () => {
    expect(await attempt({ timestamp: nowSeconds - 300 })).toBe('tenant');
    expect(await attempt({ timestamp: nowSeconds + 300 })).toBe('tenant');
    expect(await attempt({ timestamp: nowSeconds - 301 })).toMatchObject({
      detail: expect.stringContaining('301 s behind'),
    });
    expect(await attempt({ timestamp: nowSeconds + 301 })).toMatchObject({
      detail: expect.stringContaining('301 s ahead of'),
    });
  });

  test('gets the same answer for an unknown, disabled or malformed id and a wrong signature', async () => {
    const answers = await Promise.all([
      attempt({ known: false }),
      attempt({ disabled: true }),
      attempt({ secret: 'hsk_test_other' }),
      attempt({ headers: { 'X-SVC-Tenant': ['nobody'] } }),
      attempt({ headers: { 'X-SVC-Tenant': [toWireId('nod', tenantId)] } }),
    ]);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]).toMatchObject({
      code: 'unauthenticated',
      headers: { 'www-authenticate': 'SVC1-HMAC-SHA256' },
    });
  });

  test('that names a key is accepted under the secret of that key only, and from its addresses', async () => {
    const named = { headers: { 'X-SVC-Key': [toWireId('key', namedId)] } };
    const secret = 'hsk_test_named';
    expect(await attempt({ ...named, secret, showsKey: true })).toBe(namedId);
    expect(await attempt({ showsKey: true })).toBe(keyId);
    expect(await attempt({ secret: 'hsk_test_old', showsKey: true })).toBe(oldKeyId);
    const refused = await Promise.all([
      attempt(named),
      attempt({ ...named, secret: 'hsk_test_old' }),
      attempt({ secret }),
      attempt({ secret, headers: { 'X-SVC-Key': [toWireId('key', keyId)] } }),
      attempt({ secret, headers: { 'X-SVC-Key': [namedId] } }),
      attempt({ secret, headers: { 'X-SVC-Key': [toWireId('key', namedId), 'x'] } }),
      attempt({ ...named, secret, address: '203.0.114.7' }),
      attempt({ ...named, secret, disabled: true }),
    ]);
    for (const answer of refused) expect(answer).toEqual(await attempt({ known: false }));
  });

  test.each<[string, NodeJS.Dict<string[]>, string]>([
    ['no tenant', { 'X-SVC-Tenant': undefined }, 'X-SVC-Tenant is missing'],
    ['two identities', { 'X-SVC-Operator': ['op_x'] }, 'more than one identity'],
    ['one identity twice', { 'X-SVC-Tenant': ['tnt_a', 'tnt_a'] }, 'more than one identity'],
    ['no timestamp', { 'X-SVC-Timestamp': undefined }, 'X-SVC-Timestamp is missing'],
    ['no signature', { 'X-SVC-Signature': undefined }, 'X-SVC-Signature is missing'],
    ['two timestamps', { 'X-SVC-Timestamp': ['1', '2'] }, 'X-SVC-Timestamp is not'],
  ])('with %s is refused with that reason', async (_name, headers, detail) => {
    expect(await attempt({ headers })).toMatchObject({ detail: expect.stringContaining(detail) });
  });
});

describe('an operator’s endpoint', () => {
  const headers = {
    'X-SVC-Tenant': undefined,
    'X-SVC-Operator': [toWireId('op', operatorId)],
  };

  test('authenticates operators, and tenants so that they can be answered 403', async () => {
    expect(await attempt({ access: 'operator', headers, secret: 'osk_1' })).toBe('operator');
    expect(await attempt({ access: 'operator' })).toBe('tenant');
    expect(await attempt({ access: 'operator', headers })).toMatchObject({
      code: 'unauthenticated',
    });
    const nobody = { ...headers, 'X-SVC-Operator': undefined };
    expect(await attempt({ access: 'operator', headers: nobody })).toMatchObject({
      detail: expect.stringContaining('X-SVC-Operator is missing.'),
    });
  });

  test('is the only kind of endpoint that accepts an operator’s key', async () => {
    expect(await attempt({ headers, secret: 'osk_1' })).toMatchObject({
      code: 'unauthenticated',
      detail: expect.stringContaining('X-SVC-Tenant is missing.'),
    });
  });
});
