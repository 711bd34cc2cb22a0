import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type GatewayFixture,
  startGateways,
  type TestTenant,
} from '../../services/gateway/src/gateway.fixture.ts';
import { readPayUrl } from './chain/payer.ts';

/**
 * The endpoints of the rail for tenants and payers (CONTRACT 8, "Intents"). The watcher does not
 * run. The tests therefore change the intents in Postgres themselves.
 */

const recipient = 'mvines9iiHiQTysrwkJjGf2gb9Ex9jXJX8ns3qwf2kN';
const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const checkoutDir = path.resolve(import.meta.dirname, '../..');
const intents = '/v1/credits/purchase-intents';

let gateways: GatewayFixture;
let tenant: TestTenant;

beforeAll(async () => {
  gateways = await startGateways({
    SOLANA_RAIL_ENABLED: 'true',
    SOLANA_RPC_URL: 'http://127.0.0.1:9',
    SOLANA_RECIPIENT: recipient,
    SOLANA_USDC_MINT: mint,
  });
  tenant = await gateways.tenant();
});
afterAll(() => gateways.close());

const create = (body: object | string, who = tenant) =>
  who.send({
    method: 'POST',
    target: intents,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

async function created(): Promise<Record<string, never>> {
  const answer = await create({ credits: 500, token: 'USDC' });
  expect(answer.status).toBe(201);
  return JSON.parse(answer.text);
}

test('a new intent has every member, and its URL has exactly the parameters of the contract', async () => {
  const answer = await create('{"credits":1234.5,"token":"USDC"}');
  const record = JSON.parse(answer.text);
  expect(answer.status).toBe(201);
  const { reference } = record;
  expect(record).toEqual({
    reference: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/),
    solanaPayUrl: `solana:${recipient}?amount=12.345&spl-token=${mint}&reference=${reference}&label=Submission%20service&message=1234.5%20credits`,
    credits: 1234.5,
    amount: 12.345,
    token: 'USDC',
    status: 'pending',
    paidAmount: 0,
    signature: null,
    confirmedAt: null,
    payments: [],
    createdAt: expect.any(String),
    expiresAt: expect.any(String),
  });
  expect(Date.parse(record.expiresAt) - Date.parse(record.createdAt)).toBe(3_600_000);
  expect(readPayUrl(record.solanaPayUrl).amount).toBe(12_345_000n);
  const read = await tenant.send({ target: `${intents}/${reference}` });
  expect(JSON.parse(read.text)).toEqual(record);
});

test.each([
  ['zero', '{"credits":0,"token":"USDC"}', '/credits'],
  ['a negative number', '{"credits":-1,"token":"USDC"}', '/credits'],
  ['a price with seven decimals', '{"credits":0.00001,"token":"USDC"}', '/credits'],
  ['more than 1,000,000 USDC', '{"credits":100000001,"token":"USDC"}', '/credits'],
  ['a number beyond all credits', '{"credits":1e300,"token":"USDC"}', '/credits'],
  ['a text', '{"credits":"5","token":"USDC"}', '/credits'],
  ['another token', '{"credits":5,"token":"SOL"}', '/token'],
  ['an unknown member', '{"credits":5,"token":"USDC","amount":5}', '/amount'],
])('%s is refused with 422', async (_, body, member) => {
  const answer = await create(body);
  expect(answer.status).toBe(422);
  expect(JSON.parse(answer.text)).toMatchObject({
    code: 'validation_error',
    errors: [{ path: member }],
  });
});

test('an amount of credits above the maximum is refused with that maximum', async () => {
  const answer = await create('{"credits":1000000000,"token":"USDC"}');
  expect(JSON.parse(answer.text).errors).toEqual([
    { path: '/credits', message: 'must be at most 999999999.999999', keyword: 'maximum' },
  ]);
});

test('1,000,000 USDC is the most that an intent may cost', async () => {
  expect((await create('{"credits":100000000,"token":"USDC"}')).status).toBe(201);
});

test('the reference of another tenant, and an unknown one, are 404', async () => {
  const { reference } = await created();
  const other = await gateways.tenant();
  for (const end of ['', '/qr.svg', '/await']) {
    const foreign = await other.send({ target: `${intents}/${reference}${end}` });
    const unknown = await other.send({ target: `${intents}/nothing${end}` });
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
  }
});

test('the QR code is an SVG', async () => {
  const { reference } = await created();
  const answer = await tenant.send({ target: `${intents}/${reference}/qr.svg` });
  expect(answer.headers['content-type']).toBe('image/svg+xml');
  expect(answer.text).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/);
});

test('await answers at once with timeoutSeconds 0, and refuses a value outside 0 to 60', async () => {
  const { reference } = await created();
  const target = `${intents}/${reference}/await`;
  const at0 = await tenant.send({ target: `${target}?timeoutSeconds=0` });
  expect([at0.status, JSON.parse(at0.text).status]).toEqual([200, 'pending']);
  for (const bad of ['61', '-1', '1.5', 'x']) {
    expect((await tenant.send({ target: `${target}?timeoutSeconds=${bad}` })).status).toBe(422);
  }
});

test('await ends when the intent is confirmed, expires or fails', async () => {
  const ends = [
    [
      `status = 'confirmed', transaction_signature = $1, confirmed_at = svc_now(), closed_at = svc_now(),
      paid_usdc_micros = amount_usdc_micros`,
      200,
      'confirmed',
    ],
    [`status = 'expired', asked_at = svc_now()`, 409, 'intent_expired'],
    [
      `status = 'failed', asked_at = svc_now(), asked_again_at = svc_now(), closed_at = svc_now(),
      paid_usdc_micros = 1000000`,
      409,
      'intent_failed',
    ],
  ] as const;
  for (const [change, status, seen] of ends) {
    const { reference } = await created();
    const waiting = tenant.send({ target: `${intents}/${reference}/await` });
    const values = change.includes('$1') ? [reference, reference] : [reference];
    const where = change.includes('$1') ? '$2' : '$1';
    await gateways.database.query(
      `UPDATE purchase_intents SET ${change} WHERE reference = ${where}`,
      values,
    );
    const answer = await waiting;
    const body = JSON.parse(answer.text);
    const paidAmount = { confirmed: 5, intent_expired: 0, intent_failed: 1 }[seen];
    expect([answer.status, body.code ?? body.status]).toEqual([status, seen]);
    expect(body).toMatchObject({ reference, paidAmount });
  }
});

test('the 101st pending intent is refused until the oldest expires', async () => {
  const many = await gateways.tenant();
  const { reference } = JSON.parse((await create({ credits: 1, token: 'USDC' }, many)).text);
  await gateways.database.query(
    `INSERT INTO purchase_intents (reference, tenant_id, credits_micros, amount_usdc_micros, status,
       recipient, token_account, mint, usd_per_credit_micros, created_at, expires_at, grace_ends_at,
       ask_at, ask_again_at)
     SELECT 'planted-' || number, tenant_id, credits_micros, amount_usdc_micros, status, recipient,
       token_account, mint, usd_per_credit_micros, created_at, expires_at, grace_ends_at, ask_at, ask_again_at
     FROM purchase_intents, generate_series(1, 97) number WHERE reference = $1`,
    [reference],
  );
  const answers = await Promise.all(
    Array.from({ length: 3 }, () => create({ credits: 1, token: 'USDC' }, many)),
  );
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(1);
  const [first] = refused;
  expect(JSON.parse(first?.text ?? '')).toMatchObject({ code: 'too_many_intents' });
  const retryAfter = Number(first?.headers['retry-after']);
  expect(retryAfter).toBeGreaterThan(3_500);
  expect(retryAfter).toBeLessThanOrEqual(3_600);
});

test('the payment page has no script, a strict policy and what a payer needs', async () => {
  const { reference, solanaPayUrl } = await created();
  const page = await fetch(`${gateways.baseUrls[0]}/pay/${reference}`);
  const text = await page.text();
  expect(page.status).toBe(200);
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-/,
  );
  expect(page.headers.get('content-security-policy')).not.toContain('script-src');
  expect(page.headers.get('refresh')).toBe('5');
  expect(text).not.toContain('<script');
  expect(text).toContain(String(solanaPayUrl).replaceAll('&', '&amp;'));
  for (const shown of ['5 USDC', recipient, '<svg', 'Waiting for the payment']) {
    expect(text).toContain(shown);
  }
  const unknown = await fetch(`${gateways.baseUrls[0]}/pay/${recipient}`);
  expect(unknown.status).toBe(404);
});

test.each([
  ['before the end of its grace', '', 'A payment that you have already sent may still count'],
  [
    'after its grace',
    ', asked_again_at = svc_now(), closed_at = svc_now()',
    'If you have paid, contact the service',
  ],
])('the payment page of an expired intent says what counts %s', async (_when, change, shown) => {
  const { reference } = await created();
  await gateways.database.query(
    `UPDATE purchase_intents SET status = 'expired', asked_at = svc_now()${change} WHERE reference = $1`,
    [reference],
  );
  const page = await fetch(`${gateways.baseUrls[0]}/pay/${reference}`);
  expect(await page.text()).toContain(shown);
});

test('a process without the rail never loads the client library of Solana', () => {
  const files = globSync('{packages,services}/*/src/**/*.ts', { cwd: checkoutDir });
  const loading = files.filter((file) => {
    const source = readFileSync(path.join(checkoutDir, file), 'utf8');
    return /^import (?!type )[^;]*from '(@svc\/solana|@solana\/|@solana-program\/|qrcode)/m.test(
      source,
    );
  });
  expect(loading.filter((file) => !file.startsWith('packages/solana/'))).toEqual([]);
  expect(loading).not.toEqual([]);
});
