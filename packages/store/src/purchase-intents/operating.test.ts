import { toWireId } from '@svc/domain';
import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import { createFixture } from '../store.fixture.ts';
import { noteListed, noteUnread, openCursor } from './cursors.ts';
import { createPurchaseIntent } from './intents.ts';
import { takeWatcherLease } from './lease.ts';
import {
  assignPayment,
  findUnexplained,
  type IntentFilter,
  listPurchaseIntents,
  type PaymentAssignment,
  readWatcherFigures,
  readWatcherStatus,
} from './operating.ts';
import { minuteMs, openRail, type Rail } from './rail.fixture.ts';
import { endDueIntents } from './steps.ts';

test('the lag counts from the intent until the watcher has a cursor, then from the cursor', async () => {
  const { store, tenant, advance } = await createFixture();
  const lagSeconds = async () => Math.round((await readWatcherFigures(store)).lagSeconds);
  const terms = { tokenAccount: 'token-account', mint: 'mint' };
  expect(await lagSeconds()).toBe(0);
  await createPurchaseIntent(store, {
    reference: 'reference',
    tenantId: await tenant(0),
    creditsMicros: 1_000_000n,
    amountUsdcMicros: 10_000n,
    usdPerCreditMicros: 10_000n,
    recipient: 'recipient',
    ...terms,
    minutes: { intent: 60, grace: 1_440 },
  });
  await advance(90_000);
  expect(await lagSeconds()).toBe(90);
  const lease = await takeWatcherLease(store, { holder: 'test', leaseMs: 600_000 });
  await openCursor(store, lease?.epoch ?? 0n, { ...terms, signature: null, slot: 0 });
  expect(await lagSeconds()).toBe(0);
  await advance(30_000);
  expect(await lagSeconds()).toBe(30);
});

const unreadOf = (signature: string) => ({
  tokenAccount: 'account',
  signature,
  slot: 1,
  reference: null,
  error: 'e',
});

/** Ends all intents that are due, as the watcher does after the end of their grace. */
async function endAll({ store, epoch, database, openedAt }: Rail, ms: number): Promise<void> {
  await database.query(
    `UPDATE purchase_intents SET asked_at = svc_now(), asked_again_at = svc_now() WHERE closed_at IS NULL`,
  );
  await noteListed(store, epoch, {
    tokenAccount: 'account',
    at: new Date(openedAt.getTime() + ms),
  });
  for (let step = 0; step < 2; step += 1) await endDueIntents(store, epoch);
}

const openAccount = ({ store, epoch }: Rail, tokenAccount = 'account', slot = 0) =>
  openCursor(store, epoch, { tokenAccount, mint: 'mint', signature: null, slot });

test('intents are listed newest first, by tenant, by status and if they are overpaid', async () => {
  const rail = await openRail();
  const other = await rail.tenant(0);
  for (const [index, reference] of ['r1', 'r3', 'r2', 'r4'].entries()) {
    await rail.clockAt(index === 2 ? 1 : index);
    await rail.intent(reference, reference === 'r4' ? { tenantId: other } : {});
  }
  await rail.pay('s1', 50_000n, ['r1']);
  await rail.pay('s4', 50_001n, ['r4']);
  await rail.pay('s2', 50_001n, ['r2']);
  const all = { tenantId: null, status: null, isOverpaid: false, limit: 10 };
  const list = async (filter: Partial<IntentFilter>) =>
    (await listPurchaseIntents(rail.store, { ...all, ...filter })).map(
      ({ reference }) => reference,
    );
  expect(await list({})).toEqual(['r4', 'r2', 'r3', 'r1']);
  expect(await list({ limit: 2 })).toEqual(['r4', 'r2']);
  expect(await list({ tenantId: rail.tenantId })).toEqual(['r2', 'r3', 'r1']);
  expect(await list({ status: 'pending' })).toEqual(['r3']);
  expect(await list({ status: 'confirmed', tenantId: rail.tenantId })).toEqual(['r2', 'r1']);
  expect(await list({ isOverpaid: true })).toEqual(['r4', 'r2']);
  expect(await list({ isOverpaid: true, tenantId: other, limit: 1 })).toEqual(['r4']);
  const shown = await listPurchaseIntents(rail.store, all);
  const signatures = shown.map(({ payments }) => payments.map(({ signature }) => signature));
  expect(signatures).toEqual([['s4'], ['s2'], [], ['s1']]);
});

test('the status of the watcher has its cursors, unread signatures and open intents', async () => {
  const rail = await openRail();
  const { store, epoch, openedAt } = rail;
  for (const [account, slot] of [
    ['b', 2],
    ['account', 1],
    ['c', 3],
  ] as const)
    await openAccount(rail, account, slot);
  for (const reference of ['r1', 'r2', 'r3']) await rail.intent(reference);
  await rail.pay('s0', 50_000n, ['r3']);
  await noteListed(store, epoch, { tokenAccount: 'account', at: openedAt });
  for (const [index, signature] of ['s3', 's1', 's2'].entries()) {
    await rail.clockAt(3_000 - index * 1_000);
    await noteUnread(store, epoch, unreadOf(signature), null);
  }
  await rail.clockAt(5_000);
  const status = await readWatcherStatus(store, 2);
  expect(status).toEqual({
    holder: 'watcher',
    epoch,
    isHeld: true,
    polledAt: null,
    rpcAnsweredAt: null,
    problem: null,
    openIntents: 2,
    cursors: [
      { tokenAccount: 'account', signature: null, slot: 1, listedAt: openedAt, lagSeconds: 5 },
      { tokenAccount: 'b', signature: null, slot: 2, listedAt: null, lagSeconds: null },
    ],
    unread: [
      {
        signature: 's2',
        attempts: 1,
        error: 'e',
        firstSeenAt: new Date(openedAt.getTime() + 1_000),
      },
      {
        signature: 's1',
        attempts: 1,
        error: 'e',
        firstSeenAt: new Date(openedAt.getTime() + 2_000),
      },
    ],
    unexplained: [],
  });
  expect(await readWatcherFigures(store)).toMatchObject({
    openIntents: 2,
    unread: 3,
    unexplained: 0,
  });
});

test('the lag is that of the open account which was listed least recently', async () => {
  const rail = await openRail();
  const { store, epoch, openedAt } = rail;
  const lagSeconds = async () => (await readWatcherFigures(store)).lagSeconds;
  for (const account of ['account', 'b', 'c']) await openAccount(rail, account);
  await rail.intent('r1');
  await rail.intent('r2', { tokenAccount: 'b' });
  const at = (ms: number) => new Date(openedAt.getTime() + ms);
  await noteListed(store, epoch, { tokenAccount: 'account', at: at(40_000) });
  await noteListed(store, epoch, { tokenAccount: 'b', at: at(30_000) });
  await rail.clockAt(50_000);
  expect(await lagSeconds()).toBe(20);
  const payments = [{ tokenAccount: 'b', mint: 'mint', amountUsdcMicros: 50_000n }];
  await rail.pay('s2', 0n, ['r2'], { payments });
  expect(await lagSeconds()).toBe(10);
  await rail.pay('s1', 50_000n, ['r1']);
  expect(await lagSeconds()).toBe(0);
});

test('a payment is unexplained without an intent, or if its intent ended without credits', async () => {
  const rail = await openRail();
  const { store, openedAt } = rail;
  await openAccount(rail);
  const unexplained = async (limit = 10) =>
    (await findUnexplained(store, limit)).map(({ signature }) => signature);
  for (const reference of ['failed', 'late', 'expired', 'confirmed']) await rail.intent(reference);
  await rail.intent('open', { minutes: { intent: 60, grace: 60 } });
  await rail.pay('of confirmed', 50_000n, ['confirmed']);
  await rail.pay('of failed', 1n, ['failed']);
  await rail.pay('of open', 1n, ['open']);
  await rail.clockAt(1_000);
  await rail.pay('of nobody', 7n, ['unknown']);
  expect(await unexplained()).toEqual(['of nobody']);
  await rail.clockAt(21 * minuteMs);
  await rail.database.query(`UPDATE purchase_intents SET asked_at = svc_now(), status = 'expired'
    WHERE reference IN ('failed', 'late', 'expired')`);
  expect(await unexplained()).toEqual(['of nobody']);
  await endAll(rail, 21 * minuteMs);
  await rail.pay('of late', 2n, ['late'], { blockTimeSeconds: 4_000_000_000 });
  const all = ['of failed', 'of nobody', 'of late'];
  expect(await unexplained()).toEqual(all);
  expect(await unexplained(2)).toEqual(all.slice(0, 2));
  expect((await readWatcherFigures(store)).unexplained).toBe(3);
  const payment = { tokenAccount: 'account', amountUsdcMicros: 1n };
  const [first, second] = await findUnexplained(store, 2);
  expect(first).toEqual({ ...payment, signature: 'of failed', reference: 'failed', at: openedAt });
  expect(second).toMatchObject({ signature: 'of nobody', reference: null, amountUsdcMicros: 7n });
});

test('at most 1,000 unexplained payments are counted', async () => {
  const rail = await openRail();
  await rail.database.query(
    `INSERT INTO solana_payments (signature, token_account, mint, amount_usdc_micros, slot, created_at)
     SELECT 's' || number, 'account', 'mint', 1, 1, svc_now() FROM generate_series(1, 1001) number`,
  );
  expect((await readWatcherFigures(rail.store)).unexplained).toBe(1_000);
});

const assignmentOf = ({ store, tenantId }: Rail, signature: string) => ({
  purchaseId: store.newId(),
  signature,
  tenantId,
  creditsMicros: 3_000_000n,
  reason: 'they asked',
});

test('an unexplained payment is assigned once, with an entry of the audit log', async () => {
  const rail = await openRail();
  const { store, tenantId } = rail;
  const payments = ['a1', 'a2'].map((tokenAccount) => ({
    tokenAccount,
    mint: 'mint',
    amountUsdcMicros: 1_500_000n,
  }));
  await rail.pay('s1', 0n, ['unknown'], { payments });
  const assignment = assignmentOf(rail, 's1');
  expect(await assignPayment(store, assignment, testAuthor)).toEqual({
    kind: 'assigned',
    availableAfterMicros: 3_000_000n,
  });
  const again = { ...assignment, purchaseId: store.newId() };
  expect(await assignPayment(store, again, testAuthor)).toEqual({ kind: 'already_granted' });
  expect(await findUnexplained(store, 1)).toEqual([]);
  expect((await rail.figures(tenantId)).balance).toBe(3);
  const grants = await rail.database.query('SELECT reference, usd_micros, note FROM purchases');
  expect(grants).toEqual([{ reference: 'solana:s1', usd_micros: '3000000', note: 'they asked' }]);
  const [entry] = await rail.database.query<{ details: unknown }>(
    `SELECT jsonb_build_object('subject', subject_id, 'before', before, 'after', after) AS details
     FROM audit_log WHERE action = 'solana.assign'`,
  );
  expect(entry?.details).toEqual({
    subject: toWireId('tnt', tenantId),
    before: null,
    after: {
      signature: 's1',
      purchaseId: toWireId('pur', assignment.purchaseId),
      credits: '3',
      paidAmount: 3,
      reason: 'they asked',
    },
  });
});

test('a payment of an intent is assigned only after the intent ended, and not if it paid for it', async () => {
  const rail = await openRail();
  const assign = async (signature: string, change: Partial<PaymentAssignment> = {}) => {
    const assignment = { ...assignmentOf(rail, signature), ...change };
    return (await assignPayment(rail.store, assignment, testAuthor)).kind;
  };
  await openAccount(rail);
  for (const reference of ['r1', 'r2']) await rail.intent(reference);
  await rail.pay('open', 1n, ['r1']);
  await rail.pay('part', 1n, ['r2']);
  await rail.pay('whole', 49_999n, ['r2']);
  await rail.pay('more', 1n, ['r2']);
  await rail.pay('free', 1n, ['unknown']);
  expect(await assign('unknown')).toBe('unknown_payment');
  expect(await assign('open')).toBe('intent_open');
  for (const signature of ['part', 'whole'])
    expect(await assign(signature)).toBe('already_granted');
  expect(await assign('free', { tenantId: rail.store.newId() })).toBe('unknown_tenant');
  const rich = await rail.tenant(999_999_998);
  expect(await assign('free', { tenantId: rich })).toBe('balance_too_large');
  expect(await assign('more')).toBe('assigned');
  await rail.clockAt(21 * minuteMs);
  await endAll(rail, 21 * minuteMs);
  expect(await assign('open')).toBe('assigned');
  await rail.refuseWrites('audit_log');
  await expect(assign('free')).rejects.toThrow('not now');
  expect(await findUnexplained(rail.store, 10)).toMatchObject([{ signature: 'free' }]);
});

test('of two assignments of one payment at once, one is refused', async () => {
  const rail = await openRail();
  const rich = await rail.tenant(0);
  await rail.pay('s1', 1n, ['unknown']);
  const other = await beginOther(rail);
  await other.query(
    `INSERT INTO purchases (id, tenant_id, reference, credits_micros, available_after_micros, created_at)
     VALUES (gen_random_uuid(), $1, 'solana:s1', 1, 1, svc_now())`,
    [rich],
  );
  const assigned = assignPayment(rail.store, assignmentOf(rail, 's1'), testAuthor);
  await untilLockWait(rail);
  await other.commit();
  expect(await assigned).toEqual({ kind: 'already_granted' });
});
