import { pendingIntentsMax } from '@svc/domain';
import { expect, test } from 'vitest';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import { createPurchaseIntent, readIntentStatuses, readPurchaseIntent } from './intents.ts';
import { minuteMs, openRail, type Rail } from './rail.fixture.ts';

const terms = {
  creditsMicros: 5_000_000n,
  amountUsdcMicros: 50_000n,
  usdPerCreditMicros: 10_000n,
  recipient: 'recipient',
  tokenAccount: 'account',
  mint: 'mint',
  minutes: { intent: 10, grace: 10 },
};

const create = ({ store }: Rail, reference: string, tenantId: string) =>
  createPurchaseIntent(store, { ...terms, reference, tenantId });

test('an intent is read as it was created, and by its own tenant only', async () => {
  const rail = await openRail();
  const { store, tenantId, openedAt } = rail;
  const { minutes: _, usdPerCreditMicros: __, ...pinned } = terms;
  const intent = {
    ...pinned,
    reference: 'r1',
    tenantId,
    paidUsdcMicros: 0n,
    status: 'pending',
    signature: null,
    createdAt: openedAt,
    expiresAt: new Date(openedAt.getTime() + 10 * minuteMs),
    graceEndsAt: new Date(openedAt.getTime() + 20 * minuteMs),
    confirmedAt: null,
    isClosed: false,
    payments: [],
  };
  expect(await create(rail, 'r1', tenantId)).toEqual({ kind: 'created', intent });
  const other = await rail.tenant(0);
  expect(await readPurchaseIntent(store, { reference: 'r1' })).toEqual(intent);
  expect(await readPurchaseIntent(store, { reference: 'r1', tenantId })).toEqual(intent);
  expect(await readPurchaseIntent(store, { reference: 'r1', tenantId: other })).toBeNull();
  expect(await readPurchaseIntent(store, { reference: 'r2' })).toBeNull();
  await rail.intent('r3');
  await rail.pay('s1', 50_000n, ['r3']);
  expect(await readIntentStatuses(store, ['r1', 'r2'])).toEqual(new Map([['r1', 'pending']]));
});

test('a confirmed intent has its payments in the order in which they were recorded', async () => {
  const rail = await openRail();
  const { store, openedAt, clockAt, pay } = rail;
  await rail.intent('r1');
  await rail.intent('r2');
  const at = (ms: number) => new Date(openedAt.getTime() + ms);
  await pay('later', 2n, ['r1'], { slot: 3 });
  await pay('first', 1n, ['r1'], { slot: 2 });
  await pay('other', 1n, ['r2']);
  await clockAt(1_000);
  await pay('last', 50_000n, ['r1'], { slot: 1 });
  const payment = (signature: string, amountUsdcMicros: bigint, ms: number, isGranted = false) => ({
    signature,
    amountUsdcMicros,
    at: at(ms),
    isGranted,
  });
  expect(await readPurchaseIntent(store, { reference: 'r1' })).toMatchObject({
    status: 'confirmed',
    signature: 'last',
    paidUsdcMicros: 50_003n,
    confirmedAt: at(1_000),
    isClosed: true,
    payments: [
      payment('first', 1n, 0),
      payment('later', 2n, 0),
      payment('last', 50_000n, 1_000, true),
    ],
  });
});

test('the first 1,000 payments are shown', async () => {
  const rail = await openRail();
  await rail.intent('r1');
  await rail.database.query(
    `INSERT INTO solana_payments (signature, token_account, mint, amount_usdc_micros, slot, reference, created_at)
     SELECT 's' || number, 'account', 'mint', 1, 2000 - number, 'r1', svc_now() FROM generate_series(1, 1001) number`,
  );
  const intent = await readPurchaseIntent(rail.store, { reference: 'r1' });
  const shown = intent?.payments.map(({ signature }) => signature);
  expect(shown).toEqual(Array.from({ length: 1_000 }, (_, index) => `s${1_001 - index}`));
});

test('the first pending intent above the maximum waits for the oldest to expire', async () => {
  const rail = await openRail();
  const { tenantId, clockAt, intent } = rail;
  const other = await rail.tenant(0);
  await intent('of the other tenant', { tenantId: other });
  await intent('confirmed');
  await rail.pay('s1', 50_000n, ['confirmed']);
  await clockAt(minuteMs);
  await intent('r0');
  await clockAt(2 * minuteMs);
  for (let count = 1; count < pendingIntentsMax; count += 1) await intent(`r${count}`);
  const refused = await create(rail, 'one more', tenantId);
  expect(refused).toEqual({ kind: 'too_many', retryInMs: 9 * minuteMs });
  expect(await create(rail, 'of another', other)).toMatchObject({ kind: 'created' });
  await clockAt(11 * minuteMs - 1);
  expect(await create(rail, 'one more', tenantId)).toEqual({ kind: 'too_many', retryInMs: 1 });
  await clockAt(11 * minuteMs);
  expect(await create(rail, 'one more', tenantId)).toMatchObject({ kind: 'created' });
});

test('intents of one tenant are created one after another, and a failure creates none', async () => {
  const rail = await openRail();
  const { store, tenantId } = rail;
  const other = await beginOther(rail);
  await other.query('SELECT FROM credit_accounts WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
  const created = create(rail, 'r1', tenantId);
  await untilLockWait(rail);
  expect(await readPurchaseIntent(store, { reference: 'r1' })).toBeNull();
  await other.commit();
  expect(await created).toMatchObject({ kind: 'created' });
  await expect(create(rail, 'r1', tenantId)).rejects.toThrow('purchase_intents_pkey');
  await rail.refuseWrites('purchase_intents');
  await expect(create(rail, 'r2', tenantId)).rejects.toThrow('not now');
});
