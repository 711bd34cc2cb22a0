import { expect, test } from 'vitest';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import { noteListed, noteUnread, openCursor } from './cursors.ts';
import { LeaseLost } from './lease.ts';
import { minuteMs, openRail, type Rail } from './rail.fixture.ts';
import { endDueIntents, findDueQuestions, noteAnswered } from './steps.ts';

const account = { tokenAccount: 'account', mint: 'mint' };
const expiry = 'expiry' as const;
const endOfGrace = 'end_of_grace' as const;
const graceEndMs = 20 * minuteMs;

/** The time at which a question about the intent is due, in ms after the opening. */
async function dueMs({ database, openedAt }: Rail, reference: string, column: string) {
  const [row] = await database.query<{ at: Date }>(
    `SELECT ${column} AS at FROM purchase_intents WHERE reference = $1`,
    [reference],
  );
  return Number(row?.at) - openedAt.getTime();
}

const life = (intent: number) => ({ minutes: { intent, grace: 10 } });

const questionsOf = async ({ store }: Rail, limit = 100) =>
  (await findDueQuestions(store, limit)).map(({ reference, before }) => [reference, before]);

const answer = ({ store, epoch }: Rail, reference: string, before: 'expiry' | 'end_of_grace') =>
  noteAnswered(store, epoch, { reference, before });

const statusOf = async ({ database }: Rail, reference: string) => {
  const [row] = await database.query<{ status: string; is_closed: boolean }>(
    'SELECT status, closed_at IS NOT NULL AS is_closed FROM purchase_intents WHERE reference = $1',
    [reference],
  );
  return [row?.status, row?.is_closed];
};

/** Notes a signature of the account as unread, so that its `reference` has an unread signature. */
async function leaveUnread(
  { store, epoch }: Rail,
  reference: string | null,
  tokenAccount = 'account',
) {
  await openCursor(store, epoch, { tokenAccount, mint: 'mint', signature: null, slot: 0 });
  const unread = { tokenAccount, signature: `of ${reference}`, slot: 1, reference, error: 'e' };
  await noteUnread(store, epoch, unread, null);
}

const list = ({ store, epoch, openedAt }: Rail, ms: number, tokenAccount = 'account') =>
  noteListed(store, epoch, { tokenAccount, at: new Date(openedAt.getTime() + ms) });

/** An expired intent whose second question is answered, in an account that was listed at `listedMs`. */
async function expiredIntent(rail: Rail, reference: string, listedMs: number) {
  await rail.intent(reference);
  await openCursor(rail.store, rail.epoch, { ...account, signature: null, slot: 0 });
  await answer(rail, reference, expiry);
  await rail.clockAt(10 * minuteMs);
  expect(await endDueIntents(rail.store, rail.epoch)).toEqual({ expired: 1, closed: 0 });
  await answer(rail, reference, endOfGrace);
  await list(rail, listedMs);
}

/** After this, a scan returns the intents that expire last before the others. */
const storeLatestFirst = ({ database }: Rail) =>
  database.query(`CREATE INDEX latest ON purchase_intents (expires_at DESC);
    CLUSTER purchase_intents USING latest;
    DROP INDEX latest, purchase_intents_ask_idx, purchase_intents_ask_again_idx,
      purchase_intents_expiry_idx, purchase_intents_grace_idx, purchase_intents_pending_idx`);

test('a question is due at its time, twice for each intent, until it is answered', async () => {
  const rail = await openRail();
  await rail.intent('r1');
  const askMs = await dueMs(rail, 'r1', 'ask_at');
  const askAgainMs = await dueMs(rail, 'r1', 'ask_again_at');
  await rail.clockAt(askAgainMs);
  expect(await questionsOf(rail)).toEqual([['r1', expiry]]);
  await rail.clockAt(askMs - 1);
  expect(await questionsOf(rail)).toEqual([]);
  await rail.clockAt(askMs);
  expect(await findDueQuestions(rail.store, 1)).toEqual([
    { ...account, reference: 'r1', before: 'expiry' },
  ]);
  await answer(rail, 'r1', expiry);
  expect(await questionsOf(rail)).toEqual([]);
  await rail.clockAt(10 * minuteMs);
  await endDueIntents(rail.store, rail.epoch);
  await rail.clockAt(askAgainMs - 1);
  expect(await questionsOf(rail)).toEqual([]);
  await rail.clockAt(askAgainMs);
  expect(await questionsOf(rail)).toEqual([['r1', 'end_of_grace']]);
  await answer(rail, 'r1', endOfGrace);
  expect(await questionsOf(rail)).toEqual([]);
});

test('questions of both kinds come in the order of their times, up to the limit', async () => {
  const rail = await openRail();
  await rail.intent('again-late', life(2));
  await rail.intent('again', life(1));
  for (const reference of ['again', 'again-late']) await answer(rail, reference, expiry);
  await rail.clockAt(5 * minuteMs);
  await endDueIntents(rail.store, rail.epoch);
  await rail.intent('late', life(8));
  await rail.intent('soon', life(5));
  await rail.clockAt(11.9 * minuteMs);
  const all = [
    ['soon', expiry],
    ['again', endOfGrace],
    ['again-late', endOfGrace],
  ];
  const times = await Promise.all([
    dueMs(rail, 'soon', 'ask_at'),
    dueMs(rail, 'again', 'ask_again_at'),
    dueMs(rail, 'again-late', 'ask_again_at'),
    dueMs(rail, 'late', 'ask_at'),
  ]);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  expect(await questionsOf(rail)).toEqual(all);
  expect(await questionsOf(rail, 2)).toEqual(all.slice(0, 2));
  await rail.clockAt(12.9 * minuteMs);
  expect(await questionsOf(rail)).toEqual([...all, ['late', expiry]]);
  expect(await questionsOf(rail, 3)).toEqual(all);
  await storeLatestFirst(rail);
  expect(await questionsOf(rail, 1)).toEqual(all.slice(0, 1));
  await answer(rail, 'soon', expiry);
  expect(await questionsOf(rail, 1)).toEqual(all.slice(1, 2));
});

test('an intent is not asked about while a signature with its reference is unread', async () => {
  const rail = await openRail();
  for (const reference of ['r1', 'r2', 'r3']) await rail.intent(reference);
  await leaveUnread(rail, 'r1');
  await rail.clockAt(10 * minuteMs);
  const asked = (await questionsOf(rail)).map(([reference]) => reference);
  expect(new Set(asked)).toEqual(new Set(['r2', 'r3']));
  for (const reference of ['r1', 'r2', 'r3']) await answer(rail, reference, expiry);
  expect(await endDueIntents(rail.store, rail.epoch)).toEqual({ expired: 2, closed: 0 });
  expect(await statusOf(rail, 'r1')).toEqual(['pending', false]);
  await leaveUnread(rail, 'r2');
  await rail.clockAt(20 * minuteMs);
  expect(await questionsOf(rail)).toEqual([['r3', endOfGrace]]);
});

test.each(['expires', 'is closed'])(
  'an intent that a payment confirms at that moment no longer %s',
  async (end) => {
    const rail = await openRail();
    if (end === 'is closed') await expiredIntent(rail, 'r1', graceEndMs + minuteMs);
    else {
      await rail.intent('r1');
      await answer(rail, 'r1', expiry);
    }
    await rail.clockAt(graceEndMs);
    const paying = await beginOther(rail);
    await paying.query(`UPDATE purchase_intents SET status = 'confirmed', transaction_signature = 's',
      confirmed_at = svc_now(), closed_at = svc_now(), paid_usdc_micros = amount_usdc_micros`);
    const ended = endDueIntents(rail.store, rail.epoch);
    await untilLockWait(rail);
    await paying.commit();
    expect(await ended).toEqual({ expired: 0, closed: 0 });
    expect(await statusOf(rail, 'r1')).toEqual(['confirmed', true]);
  },
);

test('a confirmed intent is asked about no more, and keeps its end', async () => {
  const rail = await openRail();
  await rail.intent('r1');
  await rail.pay('s1', 50_000n, ['r1']);
  await rail.clockAt(20 * minuteMs);
  expect(await questionsOf(rail)).toEqual([]);
  for (const before of [expiry, endOfGrace]) await answer(rail, 'r1', before);
  expect(await endDueIntents(rail.store, rail.epoch)).toEqual({ expired: 0, closed: 0 });
  const asked = await rail.database.query('SELECT asked_at, asked_again_at FROM purchase_intents');
  expect(asked).toEqual([{ asked_at: null, asked_again_at: null }]);
});

test.each([
  ['1 ms before its expiry', 10 * minuteMs - 1, ['r1'], 0],
  ['at its expiry', 10 * minuteMs, ['r1'], 1],
  ['without an answer', 11 * minuteMs, ['r2'], 0],
])('an intent expires %s (%i, answered: %j): %i', async (_, ms, answered, expired) => {
  const rail = await openRail();
  await rail.intent('r1');
  await rail.intent('r2', { minutes: { intent: 20, grace: 10 } });
  for (const reference of answered) await answer(rail, reference, expiry);
  await rail.clockAt(ms);
  expect(await endDueIntents(rail.store, rail.epoch)).toEqual({ expired, closed: 0 });
  expect(await statusOf(rail, 'r1')).toEqual([expired === 1 ? 'expired' : 'pending', false]);
  expect(await statusOf(rail, 'r2')).toEqual(['pending', false]);
  expect(await endDueIntents(rail.store, rail.epoch)).toEqual({ expired: 0, closed: 0 });
});

test.each([
  ['1 ms before the end of its grace', graceEndMs - 1, graceEndMs + minuteMs, 0],
  ['at the end of its grace', graceEndMs, graceEndMs + minuteMs, 1],
  ['if the account was listed less than 60 s after the grace', graceEndMs, graceEndMs + 59_999, 0],
])('an expired intent is closed %s (%i, listed at %i): %i', async (_, ms, listedMs, closed) => {
  const rail = await openRail();
  await expiredIntent(rail, 'r1', listedMs);
  await rail.clockAt(ms);
  expect(await endDueIntents(rail.store, rail.epoch)).toEqual({ expired: 0, closed });
  expect(await statusOf(rail, 'r1')).toEqual(['expired', closed === 1]);
});

test('an intent that was paid in part ends as failed, its neighbors by their own payments', async () => {
  const rail = await openRail();
  for (const reference of ['r2', 'r3'])
    await rail.intent(reference, { minutes: { intent: 10, grace: 10 } });
  for (const reference of ['r2', 'r3']) await answer(rail, reference, expiry);
  await rail.intent('other', { tokenAccount: 'other' });
  await rail.pay('s1', 1n, ['r2']);
  await rail.clockAt(10 * minuteMs);
  await endDueIntents(rail.store, rail.epoch);
  for (const reference of ['r2', 'r3', 'other']) await answer(rail, reference, endOfGrace);
  await openCursor(rail.store, rail.epoch, { ...account, signature: null, slot: 0 });
  await list(rail, graceEndMs + minuteMs);
  await rail.clockAt(graceEndMs + minuteMs);
  expect(await endDueIntents(rail.store, rail.epoch)).toEqual({ expired: 0, closed: 2 });
  expect(await statusOf(rail, 'r2')).toEqual(['failed', true]);
  expect(await statusOf(rail, 'r3')).toEqual(['expired', true]);
  expect(await statusOf(rail, 'other')).toEqual(['pending', false]);
});

test.each([
  ['an unread signature in its account', (rail: Rail) => leaveUnread(rail, null), 0],
  ['an unread signature in another account', (rail: Rail) => leaveUnread(rail, null, 'other'), 1],
  [
    'no answer to its second question',
    ({ database }: Rail) => database.query('UPDATE purchase_intents SET asked_again_at = NULL'),
    0,
  ],
  [
    'no answer to its first question',
    ({ database }: Rail) =>
      database.query(`UPDATE purchase_intents SET status = 'pending', asked_at = NULL`),
    0,
  ],
  [
    'an account that was not listed',
    ({ database }: Rail) => database.query('UPDATE solana_cursors SET listed_at = NULL'),
    0,
  ],
  [
    'only another account that was listed',
    async (rail: Rail) => {
      await rail.database.query('UPDATE solana_cursors SET listed_at = NULL');
      const other = { tokenAccount: 'other', mint: 'mint', signature: null, slot: 0 };
      await openCursor(rail.store, rail.epoch, other);
      await list(rail, graceEndMs + minuteMs, 'other');
    },
    0,
  ],
])('after its grace, an intent with %s is closed: %#', async (_, change, closed) => {
  const rail = await openRail();
  await expiredIntent(rail, 'r1', graceEndMs + minuteMs);
  await rail.clockAt(graceEndMs + minuteMs);
  await change(rail);
  expect(await endDueIntents(rail.store, rail.epoch)).toEqual({ expired: 0, closed });
});

test('one call ends at most 1,000 intents, the oldest first', async () => {
  const rail = await openRail();
  await rail.intent('last', { minutes: { intent: 12, grace: 9 } });
  await rail.database.query(
    `INSERT INTO purchase_intents (reference, tenant_id, credits_micros, amount_usdc_micros, status,
       recipient, token_account, mint, usd_per_credit_micros, created_at, expires_at, grace_ends_at,
       ask_at, ask_again_at)
     SELECT 'copy-' || number, tenant_id, credits_micros, amount_usdc_micros, status, recipient,
       token_account, mint, usd_per_credit_micros, created_at, expires_at - interval '2 minutes',
       grace_ends_at - interval '1 minute', created_at, expires_at
     FROM purchase_intents, generate_series(1, 1000) number`,
  );
  await openCursor(rail.store, rail.epoch, { ...account, signature: null, slot: 0 });
  await rail.database.query('UPDATE purchase_intents SET asked_at = svc_now()');
  await storeLatestFirst(rail);
  await rail.clockAt(30 * minuteMs);
  const end = () => endDueIntents(rail.store, rail.epoch);
  expect(await end()).toEqual({ expired: 1_000, closed: 0 });
  expect(await statusOf(rail, 'last')).toEqual(['pending', false]);
  expect(await end()).toEqual({ expired: 1, closed: 0 });
  await rail.database.query('UPDATE purchase_intents SET asked_again_at = svc_now()');
  await list(rail, 30 * minuteMs);
  expect(await end()).toEqual({ expired: 0, closed: 1_000 });
  expect(await statusOf(rail, 'last')).toEqual(['expired', false]);
  expect(await end()).toEqual({ expired: 0, closed: 1 });
});

test('an answer or an end by a former watcher, or that Postgres refuses, changes nothing', async () => {
  const rail = await openRail();
  await rail.intent('r1');
  const asked = () =>
    rail.database.query('SELECT status, asked_at, asked_again_at FROM purchase_intents');
  const before = await asked();
  const former = { ...rail, epoch: rail.epoch - 1n };
  await expect(answer(former, 'r1', expiry)).rejects.toThrow(LeaseLost);
  expect(await asked()).toEqual(before);
  await answer(rail, 'r1', expiry);
  const answered = await asked();
  await rail.clockAt(10 * minuteMs);
  await expect(endDueIntents(rail.store, former.epoch)).rejects.toThrow(LeaseLost);
  expect(await asked()).toEqual(answered);
  await rail.refuseWrites('purchase_intents');
  await expect(answer(rail, 'r1', endOfGrace)).rejects.toThrow('not now');
  await expect(endDueIntents(rail.store, rail.epoch)).rejects.toThrow('not now');
  expect(await asked()).toEqual(answered);
});
