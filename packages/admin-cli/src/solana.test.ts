import { toWireId } from '@svc/domain';
import {
  createPurchaseIntent,
  noteWatcherState,
  openCursor,
  recordTransaction,
  takeWatcherLease,
} from '@svc/store';
import { openFixture } from '@svc/store/fixture';
import { bareEnvironment, type Ran, runSvc, testMasterKey } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

/**
 * `svc purchase-intent` and `svc solana` (CONTRACT 8 and 9). There is no chain: `pay` records a
 * payment as the watcher would.
 */

let fixture: Awaited<ReturnType<typeof openFixture>>;
let tenantId: string;
let epoch: bigint;
let count = 0;
const usdc = 1_000_000n;
const terms = { tokenAccount: 'token-account', mint: 'mint' };

beforeAll(async () => {
  fixture = await openFixture();
  tenantId = await fixture.tenant(0);
  epoch =
    (await takeWatcherLease(fixture.store, { holder: 'test', leaseMs: 600_000 }))?.epoch ?? 0n;
  await openCursor(fixture.store, epoch, { ...terms, signature: null, slot: 0 });
});
afterAll(() => fixture.close());

function svc(...words: readonly string[]): Promise<Ran> {
  return runSvc(words, {
    ...bareEnvironment(),
    DATABASE_URL: fixture.database.databaseUrl,
    SVC_MASTER_KEY: testMasterKey(),
  });
}

async function json(...words: readonly string[]) {
  const { stdout, stderr } = await svc(...words, '--json');
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

async function intent(owner = tenantId, minutes = { intent: 60, grace: 1_440 }): Promise<string> {
  count += 1;
  const reference = `reference-${count}`;
  await createPurchaseIntent(fixture.store, {
    reference,
    tenantId: owner,
    creditsMicros: 500n * usdc,
    amountUsdcMicros: 5n * usdc,
    usdPerCreditMicros: 10_000n,
    recipient: 'recipient',
    ...terms,
    minutes,
  });
  return reference;
}

async function pay(amountUsdcMicros: bigint, ...accountKeys: string[]): Promise<string> {
  count += 1;
  const signature = `signature-${count}`;
  const payments = [{ ...terms, amountUsdcMicros }];
  const found = { signature, slot: count, blockTimeSeconds: null, accountKeys, payments };
  await recordTransaction(fixture.store, epoch, found, null);
  return signature;
}

test('an intent is shown with its payments and why it is not credited', async () => {
  const reference = await intent();
  expect(await json('purchase-intent', 'show', reference)).toMatchObject({
    reference,
    tenantId: toWireId('tnt', tenantId),
    status: 'pending',
    amount: 5,
    paidAmount: 0,
    recipient: 'recipient',
    payments: [],
    reason: 'no finalized payment was found yet',
  });
  const part = await pay(2n * usdc, reference);
  expect(await json('purchase-intent', 'show', reference)).toMatchObject({
    paidAmount: 2,
    payments: [{ signature: part, amount: 2, at: expect.any(String) }],
    reason: '3 USDC are missing',
  });
  const rest = await pay(3n * usdc, reference);
  expect(await json('purchase-intent', 'show', reference)).toMatchObject({
    status: 'confirmed',
    signature: rest,
    reason: null,
  });
});

test('a paid intent that is not credited is shown with the reason', async () => {
  const refused = await intent(await fixture.tenant(999_999_999));
  await pay(5n * usdc, refused);
  expect(await json('purchase-intent', 'show', refused)).toMatchObject({
    status: 'pending',
    paidAmount: 5,
    reason: expect.stringContaining('in time, but with its credits the tenant'),
  });
  const late = await intent(tenantId, { intent: 1, grace: 1 });
  await pay(2n * usdc, late);
  await fixture.advance(180_000);
  const found = {
    signature: 'after-the-grace',
    slot: 1,
    blockTimeSeconds: Math.floor(Date.now() / 1_000) + 180,
    accountKeys: [late],
    payments: [{ ...terms, amountUsdcMicros: 3n * usdc }],
  };
  await recordTransaction(fixture.store, epoch, found, null);
  expect(await json('purchase-intent', 'show', late)).toMatchObject({
    status: 'pending',
    paidAmount: 5,
    reason: expect.stringContaining('was found only after the grace of the intent'),
  });
});

test('intents are listed by tenant, by status and if they are overpaid', async () => {
  const owner = await fixture.tenant(0);
  const [paid, over, open] = [await intent(owner), await intent(owner), await intent(owner)];
  await pay(5n * usdc, paid);
  await pay(6n * usdc, over);
  const wireId = toWireId('tnt', owner);
  const references = async (...words: string[]) =>
    (await json('purchase-intent', 'list', '--tenant', wireId, ...words)).map(
      (one: { reference: string }) => one.reference,
    );
  expect((await references()).toSorted()).toEqual([open, over, paid].toSorted());
  expect((await references('--status', 'confirmed')).toSorted()).toEqual([over, paid].toSorted());
  expect(await references('--overpaid')).toEqual([over]);
  expect(await references('--status', 'failed')).toEqual([]);
  const table = await svc('purchase-intent', 'list', '--overpaid');
  expect(table.stdout).toContain(over);
});

test('an unknown intent and an unknown status are refused with a reason', async () => {
  const unknown = await svc('purchase-intent', 'show', 'nothing');
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('no such intent') });
  const wrong = await svc('purchase-intent', 'list', '--status', 'paid');
  expect(wrong).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('pending, confirmed, expired, failed'),
  });
});

test('the status shows the watcher, its cursors, the problem and the unexplained payments', async () => {
  const signature = await pay(7n * usdc, 'a reference that nobody has');
  const problem = 'SOLANA_RPC_URL is a server of mainnet';
  await noteWatcherState(fixture.store, epoch, { rpcAnswered: true, problem });
  const status = await json('solana', 'status');
  expect(status).toMatchObject({
    watcher: 'running',
    epoch: Number(epoch),
    polledAt: expect.any(String),
    rpcAnsweredAt: expect.any(String),
    problem,
    openIntents: expect.any(Number),
    cursors: [{ tokenAccount: terms.tokenAccount, listedAt: null, lagSeconds: null }],
    unread: [],
  });
  expect(status.unexplained).toContainEqual({
    signature,
    tokenAccount: terms.tokenAccount,
    amount: 7,
    reference: null,
    at: expect.any(String),
  });
});

test('an unexplained payment is assigned once, with a reason that the audit log keeps', async () => {
  const owner = await fixture.tenant(0);
  const wireId = toWireId('tnt', owner);
  const signature = await pay(4n * usdc, 'unknown');
  const assign = (credits: string, reason = 'paid without the reference') =>
    svc(
      'solana',
      'assign',
      signature,
      '--tenant',
      wireId,
      '--credits',
      credits,
      '--reason',
      reason,
      '--json',
    );
  for (const [credits, reason] of [
    ['0', 'r'],
    ['400', ''],
    ['400', 'r'.repeat(5_000)],
  ] as const) {
    expect((await assign(credits, reason)).code).not.toBe(0);
  }
  const assigned = await assign('400');
  expect(JSON.parse(assigned.stdout)).toMatchObject({
    tenantId: wireId,
    signature,
    credits: 400,
    balance: { after: 400 },
  });
  const again = await assign('400');
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('were granted') });
  expect(await fixture.figures(owner)).toMatchObject({ balance: 400 });
  const { unexplained } = await json('solana', 'status');
  expect(JSON.stringify(unexplained)).not.toContain(signature);
  const audited = await svc('audit', 'list', '--subject', wireId, '--json');
  expect(audited.stdout).toMatch(/solana\.assign[^]*paid without the reference/);
});

test('a payment that an operator granted before it was read neither grants again nor is unexplained', async () => {
  const owner = await fixture.tenant(0);
  const reference = await intent(owner);
  const signature = 'granted-before';
  const grant = ['credits', 'grant', toWireId('tnt', owner), '500', '--reference'];
  expect(await svc(...grant, `solana:${signature}`)).toMatchObject({ code: 0 });
  const payments = [{ ...terms, amountUsdcMicros: 5n * usdc }];
  const found = { signature, slot: 1, blockTimeSeconds: null, accountKeys: [reference], payments };
  expect(await recordTransaction(fixture.store, epoch, found, null)).toEqual({ kind: 'nothing' });
  expect(await fixture.figures(owner)).toMatchObject({ balance: 500 });
  const { unexplained } = await json('solana', 'status');
  expect(JSON.stringify(unexplained)).not.toContain(signature);
});

test('a payment that is unknown, of an open intent, or granted already is not assigned', async () => {
  const open = await intent();
  const [part, whole] = [await pay(1n * usdc, open), await pay(5n * usdc, await intent())];
  const inTwo = await intent();
  const [first] = [await pay(2n * usdc, inTwo), await pay(3n * usdc, inTwo)];
  const refusals: readonly (readonly [string, string])[] = [
    ['nothing', 'has not read a payment with this signature'],
    [part, 'can still be completed'],
    [whole, 'were granted for this payment before'],
    [first, 'were granted for this payment before'],
  ];
  for (const [signature, reason] of refusals) {
    const refused = await svc(
      'solana',
      'assign',
      signature,
      '--tenant',
      toWireId('tnt', tenantId),
      '--credits',
      '1',
      '--reason',
      'r',
    );
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(reason) });
  }
  const nobody = toWireId('tnt', fixture.store.newId());
  const signature = await pay(1n, 'unknown');
  const unknown = await svc(
    'solana',
    'assign',
    signature,
    '--tenant',
    nobody,
    '--credits',
    '1',
    '--reason',
    'r',
  );
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('no such tenant') });
});
