import { expect, test } from 'vitest';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import { claimFor } from '../store.fixture.ts';
import { noteUnread, openCursor } from './cursors.ts';
import { readPurchaseIntent } from './intents.ts';
import { LeaseLost } from './lease.ts';
import { readWatcherStatus } from './operating.ts';
import { findRecorded, recordTransaction } from './payments.ts';
import { minuteMs, openRail, type Rail } from './rail.fixture.ts';

const price = 50_000n;

const paymentsOf = ({ database }: Rail) =>
  database.query(
    `SELECT signature, token_account, amount_usdc_micros AS amount, reference, slot, block_time
     FROM solana_payments ORDER BY created_at, signature, token_account`,
  );

const statusOf = async ({ store }: Rail, reference: string) => {
  const intent = await readPurchaseIntent(store, { reference });
  return [intent?.status, intent?.paidUsdcMicros];
};

test('a payment completes an intent once, and more of it is only added', async () => {
  const rail = await openRail();
  const { tenantId, pay } = rail;
  await rail.intent('r1');
  const balance = async () => (await rail.figures(tenantId)).balance;
  expect(await pay('s1', price - 1n, ['r1'])).toEqual({ kind: 'added', reference: 'r1' });
  expect([await balance(), await statusOf(rail, 'r1')]).toEqual([0, ['pending', price - 1n]]);
  const granted = { kind: 'granted', reference: 'r1', tenantId };
  expect(await pay('s2', 1n, ['r1'])).toEqual(granted);
  expect([await balance(), await statusOf(rail, 'r1')]).toEqual([5, ['confirmed', price]]);
  for (const signature of ['s1', 's2'])
    expect(await pay(signature, price, ['r1'])).toEqual({ kind: 'nothing' });
  expect(await pay('s3', price, ['r1'])).toEqual({ kind: 'added', reference: 'r1' });
  expect([await balance(), await statusOf(rail, 'r1')]).toEqual([5, ['confirmed', 2n * price]]);
  const purchases = await rail.database.query(
    'SELECT reference, credits_micros, usd_micros, note FROM purchases',
  );
  expect(purchases).toEqual([
    {
      reference: 'solana:s2',
      credits_micros: '5000000',
      usd_micros: '50000',
      note: 'purchase intent r1',
    },
  ]);
});

test('of a transaction with several payments, only the one to the account of the intent is its own', async () => {
  const rail = await openRail();
  await rail.intent('r1', { tokenAccount: 'account-2' });
  const payments = ['account-1', 'account-2', 'account-3'].map((tokenAccount) => ({
    tokenAccount,
    mint: 'mint',
    amountUsdcMicros: 1n,
  }));
  await rail.pay('s1', 0n, ['r1', 'unknown'], {
    payments,
    slot: 7,
    blockTimeSeconds: 1_800_000_000,
  });
  const row = { signature: 's1', amount: '1', slot: '7', block_time: new Date(1_800_000_000_000) };
  expect(await paymentsOf(rail)).toEqual([
    { ...row, token_account: 'account-1', reference: null },
    { ...row, token_account: 'account-2', reference: 'r1' },
    { ...row, token_account: 'account-3', reference: null },
  ]);
  await rail.pay('s2', 1n, ['unknown']);
  const seen = await findRecorded(rail.store, 'account', ['s1', 's2', 's3']);
  expect(seen).toEqual(new Set(['s2']));
  expect(await findRecorded(rail.store, 'account', ['s1'])).toEqual(new Set());
});

test('a transaction pays the oldest of the intents that it names, of equal ones the first by reference', async () => {
  const rail = await openRail();
  await rail.clockAt(2);
  await rail.intent('a');
  await rail.clockAt(1);
  for (const reference of ['c', 'b', 'd']) await rail.intent(reference);
  for (const [signature, paid] of [
    ['s1', 'b'],
    ['s2', 'c'],
    ['s3', 'd'],
    ['s4', 'a'],
  ] as const)
    expect(await rail.pay(signature, price, ['a', 'd', 'c', 'b'])).toMatchObject({
      reference: paid,
    });
});

test.each([
  ['at the end of the grace', 0, 'granted'],
  ['1 s after the grace', 1, 'added'],
  ['without a block time', null, 'granted'],
])('a payment %s is %s %s', async (_, afterSeconds, kind) => {
  const rail = await openRail();
  const startMs = Math.ceil(rail.openedAt.getTime() / 1_000) * 1_000 - rail.openedAt.getTime();
  await rail.clockAt(startMs);
  const intent = await rail.intent('r1');
  await rail.clockAt(30 * minuteMs);
  const blockTimeSeconds =
    afterSeconds === null ? null : intent.graceEndsAt.getTime() / 1_000 + afterSeconds;
  expect(await rail.pay('s1', price, ['r1'], { blockTimeSeconds })).toMatchObject({ kind });
});

test('a transaction without a payment, or one that an operator settled, grants nothing', async () => {
  const rail = await openRail();
  await rail.intent('r1');
  expect(await rail.pay('s1', 0n, ['r1'], { payments: [] })).toEqual({ kind: 'nothing' });
  expect(await rail.pay('s2', 1n, ['unknown'])).toEqual({ kind: 'unexplained' });
  await rail.database.query(
    `INSERT INTO purchases (id, tenant_id, reference, credits_micros, available_after_micros, created_at)
     VALUES (gen_random_uuid(), $1, 'solana:s3', 1, 1, svc_now())`,
    [rail.tenantId],
  );
  expect(await rail.pay('s3', price, ['r1'])).toEqual({ kind: 'nothing' });
  expect(await statusOf(rail, 'r1')).toEqual(['pending', 0n]);
  expect(await paymentsOf(rail)).toMatchObject([
    { signature: 's2', reference: null },
    { signature: 's3', reference: null },
  ]);
});

test('credits that do not fit into the balance are not granted, and the payment is added', async () => {
  const rail = await openRail();
  const rich = await rail.tenant(999_999_995);
  await rail.intent('r1', { tenantId: rich });
  await rail.intent('r2', { tenantId: rich, creditsMicros: 4_999_999n });
  expect(await rail.pay('s1', price, ['r1'])).toEqual({
    kind: 'balance_too_large',
    reference: 'r1',
  });
  expect(await statusOf(rail, 'r1')).toEqual(['pending', price]);
  expect(await rail.pay('s2', price, ['r2'])).toMatchObject({ kind: 'granted' });
});

test('the event of a grant has what was paid, and goes to the destinations of its tenant', async () => {
  const rail = await openRail();
  const tenantId = await rail.tenant(0, 'https://hooks.example.com');
  await rail.intent('r1', { tenantId });
  await rail.pay('s1', 1n, ['r1']);
  await rail.pay('s2', price, ['r1']);
  const [attempt, ...more] = await claimFor(rail.store, tenantId);
  expect(more).toEqual([]);
  const body = attempt?.body ?? '';
  expect(JSON.parse(body)).toEqual({
    id: expect.stringMatching(/^evt_/),
    type: 'credits.purchased',
    timestamp: rail.openedAt.toISOString(),
    data: { reference: 'r1', credits: 5, paidAmount: 0.050_001, signature: 's2' },
  });
  await rail.intent('r2');
  await rail.pay('s3', price, ['r2']);
  const unsent = await rail.database.query(
    'SELECT count(*)::int AS events, (SELECT count(*)::int FROM deliveries) AS deliveries FROM events',
  );
  expect(unsent).toEqual([{ events: 2, deliveries: 1 }]);
});

test('the cursor moves, and the unread signature is deleted, with the payment', async () => {
  const rail = await openRail();
  const { store, epoch } = rail;
  const start = { tokenAccount: 'account', mint: 'mint', signature: null, slot: 0 };
  await openCursor(store, epoch, start);
  for (const signature of ['s1', 's2'])
    await noteUnread(
      store,
      epoch,
      { tokenAccount: 'account', signature, slot: 1, reference: null, error: 'e' },
      null,
    );
  const found = { signature: 's1', slot: 1, blockTimeSeconds: null, accountKeys: [], payments: [] };
  const to = { tokenAccount: 'account', signature: 's1', slot: 1 };
  const seen = async () => {
    const { cursors, unread } = await readWatcherStatus(store, 10);
    return [cursors[0]?.signature, ...unread.map(({ signature }) => signature)];
  };
  await recordTransaction(store, epoch, { ...found, signature: 's0' }, null);
  expect(await seen()).toEqual([null, 's1', 's2']);
  await expect(recordTransaction(store, epoch - 1n, found, to)).rejects.toThrow(LeaseLost);
  expect(await seen()).toEqual([null, 's1', 's2']);
  expect(await recordTransaction(store, epoch, found, to)).toEqual({ kind: 'nothing' });
  expect(await seen()).toEqual(['s1', 's2']);
});

test('a former watcher records nothing', async () => {
  const rail = await openRail();
  await rail.intent('r1');
  const payments = [{ tokenAccount: 'account', mint: 'mint', amountUsdcMicros: price }];
  const found = { signature: 's1', slot: 1, blockTimeSeconds: null, accountKeys: ['r1'], payments };
  const recorded = recordTransaction(rail.store, rail.epoch - 1n, found, null);
  await expect(recorded).rejects.toThrow(LeaseLost);
  expect([await paymentsOf(rail), await statusOf(rail, 'r1')]).toEqual([[], ['pending', 0n]]);
});

test('the choice of the intent waits for a payment that is being recorded', async () => {
  const rail = await openRail();
  await rail.intent('r1');
  const other = await beginOther(rail);
  await other.query(`UPDATE purchase_intents SET paid_usdc_micros = 49999 WHERE reference = 'r1'`);
  const paid = rail.pay('s1', 1n, ['r1']);
  await untilLockWait(rail);
  await other.commit();
  expect(await paid).toMatchObject({ kind: 'granted' });
});

test.each([
  'solana_payments',
  'purchase_intents',
  'purchases',
  'events',
  'solana_cursors',
  'solana_unread_signatures',
])('a transaction is not recorded at all if %s refuses it', async (table) => {
  const rail = await openRail();
  const tenantId = await rail.tenant(0, 'https://hooks.example.com');
  await rail.intent('r1', { tenantId });
  const { store, epoch } = rail;
  const to = { tokenAccount: 'account', signature: 's1', slot: 1 };
  await openCursor(store, epoch, { ...to, mint: 'mint', signature: null, slot: 0 });
  await rail.refuseWrites(table);
  const payments = [{ tokenAccount: 'account', mint: 'mint', amountUsdcMicros: price }];
  const found = {
    signature: 's1',
    slot: 1,
    blockTimeSeconds: null,
    accountKeys: ['r1'],
    payments,
  };
  await expect(recordTransaction(store, epoch, found, to)).rejects.toThrow('not now');
  expect([await paymentsOf(rail), await statusOf(rail, 'r1')]).toEqual([[], ['pending', 0n]]);
  expect((await rail.figures(tenantId)).balance).toBe(0);
});

test('a payment that an operator settled is not recorded if Postgres refuses it', async () => {
  const rail = await openRail();
  await rail.database.query(
    `INSERT INTO purchases (id, tenant_id, reference, credits_micros, available_after_micros, created_at)
     VALUES (gen_random_uuid(), $1, 'solana:s1', 1, 1, svc_now())`,
    [rail.tenantId],
  );
  await rail.refuseWrites('solana_payments');
  await expect(rail.pay('s1', price, [])).rejects.toThrow('not now');
});

test('the times of payments and of their confirmation are in order, whatever the clock does', async () => {
  const rail = await openRail();
  await rail.intent('r1');
  const times = async () => {
    const intent = await readPurchaseIntent(rail.store, { reference: 'r1' });
    return [intent?.confirmedAt, ...(intent?.payments ?? []).map(({ at }) => at)].map((at) =>
      at ? at.getTime() - rail.openedAt.getTime() : null,
    );
  };
  await rail.clockAt(2 * minuteMs);
  await rail.pay('s0', 1n, ['unknown']);
  await rail.clockAt(minuteMs);
  await rail.pay('s1', 1n, ['r1']);
  await rail.clockAt(0);
  await rail.pay('s2', price, ['r1']);
  expect(await times()).toEqual([minuteMs, 0, minuteMs]);
  await rail.pay('s3', 1n, ['r1']);
  expect(await times()).toEqual([minuteMs, 0, minuteMs, minuteMs + 1]);
  await rail.clockAt(2 * minuteMs);
  await rail.pay('s4', 1n, ['r1']);
  expect((await times()).at(-1)).toBe(2 * minuteMs);
});
