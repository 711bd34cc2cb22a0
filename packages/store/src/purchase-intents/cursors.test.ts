import { expect, test } from 'vitest';
import {
  findUnreadDue,
  findWatchedAccounts,
  moveCursor,
  noteListed,
  noteUnread,
  openCursor,
  rewindCursor,
} from './cursors.ts';
import { LeaseLost } from './lease.ts';
import { readWatcherStatus } from './operating.ts';
import { minuteMs, openRail, type Rail } from './rail.fixture.ts';

interface CursorRow {
  token_account: string;
  signature: string | null;
  slot: string;
  floor_slot: string;
  listed_at: Date | null;
}

const of = (tokenAccount: string) => ({ tokenAccount, mint: `mint-${tokenAccount}` });

const cursorsOf = ({ database }: Rail) =>
  database.query<CursorRow>(
    'SELECT token_account, signature, slot, floor_slot, listed_at FROM solana_cursors ORDER BY 1',
  );

const open = ({ store, epoch }: Rail, tokenAccount: string, slot = 10) =>
  openCursor(store, epoch, { ...of(tokenAccount), signature: 's0', slot });

const unreadOf = (signature: string, reference: string | null = null, error = 'e') => ({
  tokenAccount: 'a',
  signature,
  slot: 11,
  reference,
  error,
});

test('the accounts of open intents and of cursors are watched, each once and in order', async () => {
  const rail = await openRail();
  const { store, intent, pay, database } = rail;
  expect(await findWatchedAccounts(store)).toEqual([]);
  // Without the index, a scan returns the intents in the order of their insertion.
  await database.query('DROP INDEX purchase_intents_open_idx');
  for (const account of ['e', 'c', 'a', 'c', 'f', 'e'])
    await intent(`${account}-${store.newId()}`, of(account));
  for (const account of ['0', 'b']) {
    await intent(account, of(account));
    const payments = [{ ...of(account), amountUsdcMicros: 50_000n }];
    await pay(account, 0n, [account], { payments });
  }
  for (const account of ['d', 'e', 'a0']) await open(rail, account);
  await database.query(
    `UPDATE solana_cursors SET slot = 12, signature = NULL WHERE token_account = 'e'`,
  );
  expect(await findWatchedAccounts(store)).toEqual([
    { ...of('a'), isOpen: true, cursor: null },
    { ...of('a0'), isOpen: false, cursor: { signature: 's0', slot: 10, floorSlot: 10 } },
    { ...of('c'), isOpen: true, cursor: null },
    { ...of('d'), isOpen: false, cursor: { signature: 's0', slot: 10, floorSlot: 10 } },
    { ...of('e'), isOpen: true, cursor: { signature: null, slot: 12, floorSlot: 10 } },
    { ...of('f'), isOpen: true, cursor: null },
  ]);
});

test('a cursor is opened once, and moves to equal and later slots only', async () => {
  const rail = await openRail();
  const { store, epoch } = rail;
  await open(rail, 'a');
  await open(rail, 'b');
  await open(rail, 'a', 99);
  const [first, other] = await cursorsOf(rail);
  expect(first).toEqual({
    token_account: 'a',
    signature: 's0',
    slot: '10',
    floor_slot: '10',
    listed_at: null,
  });
  const move = (signature: string, slot: number) =>
    moveCursor(store, epoch, { tokenAccount: 'a', signature, slot });
  for (const [signature, slot, seen] of [
    ['same', 10, 'same'],
    ['later', 12, 'later'],
    ['earlier', 11, 'later'],
  ] as const) {
    await move(signature, slot);
    expect(await cursorsOf(rail)).toEqual([
      { ...first, signature: seen, slot: seen === 'same' ? '10' : '12' },
      other,
    ]);
  }
});

test.each([
  ['above its bound', { slot: 21, floor: 5, slotMax: 20 }, 5],
  ['above its bound, with its first slot at the bound', { slot: 21, floor: 20, slotMax: 20 }, 20],
  ['above its bound, with its first slot too', { slot: 22, floor: 21, slotMax: 20 }, 0],
  ['at its bound', { slot: 20, floor: 5, slotMax: 20 }, null],
])('a cursor %s is taken back (%o)', async (_, { slot, floor, slotMax }, slotAfter) => {
  const rail = await openRail();
  const { store, epoch, openedAt, database } = rail;
  for (const account of ['a', 'b']) await open(rail, account, 0);
  await database.query('UPDATE solana_cursors SET slot = $1, floor_slot = $2, listed_at = $3', [
    slot,
    floor,
    openedAt,
  ]);
  const [before, other] = await cursorsOf(rail);
  expect(await rewindCursor(store, epoch, { tokenAccount: 'a', slotMax })).toBe(slotAfter !== null);
  const text = String(slotAfter);
  const rewound = { token_account: 'a', signature: null, slot: text, floor_slot: text };
  expect(await cursorsOf(rail)).toEqual([
    slotAfter === null ? before : { ...rewound, listed_at: null },
    other,
  ]);
});

test('the time of a listing is noted for its account, and not by a former watcher', async () => {
  const rail = await openRail();
  const { store, epoch, openedAt } = rail;
  for (const account of ['a', 'b']) await open(rail, account);
  await noteListed(store, epoch - 1n, { tokenAccount: 'b', at: openedAt });
  await noteListed(store, epoch, { tokenAccount: 'a', at: openedAt });
  expect((await cursorsOf(rail)).map(({ listed_at }) => listed_at)).toEqual([openedAt, null]);
});

test('an unread signature is tried again after 1 s, then after an eighth of its age, up to 300 s', async () => {
  const rail = await openRail();
  const { store, epoch, clockAt } = rail;
  await open(rail, 'a');
  const note = (error: string) => noteUnread(store, epoch, unreadOf('s1', null, error), null);
  const isDue = async () => (await findUnreadDue(store, 10)).length === 1;
  let attempts = 0;
  for (const [atMs, waitMs] of [
    [0, 1_000],
    [7_000, 1_000],
    [16_000, 2_000],
    [300 * 8_000 - 8_000, 299_000],
    [300 * 8_000 + 8_000, 300_000],
  ] as const) {
    attempts += 1;
    await clockAt(atMs);
    await note(`error ${attempts}`);
    await clockAt(atMs + waitMs - 1);
    expect(await isDue()).toBe(false);
    await clockAt(atMs + waitMs);
    expect(await isDue()).toBe(true);
    const { unread } = await readWatcherStatus(store, 10);
    expect(unread).toEqual([
      { signature: 's1', attempts, error: `error ${attempts}`, firstSeenAt: rail.openedAt },
    ]);
  }
});

test('an unread signature keeps the first reference by which it was found', async () => {
  const rail = await openRail();
  const { store, epoch, clockAt } = rail;
  await open(rail, 'a');
  const found = async () => (await findUnreadDue(store, 1)).map(({ reference }) => reference);
  for (const [minutes, reference, kept] of [
    [1, null, null],
    [2, 'r1', 'r1'],
    [3, null, 'r1'],
    [4, 'r2', 'r1'],
  ] as const) {
    await noteUnread(store, epoch, unreadOf('s1', reference), null);
    await clockAt(minutes * minuteMs);
    expect(await found()).toEqual([kept]);
  }
});

test('unread signatures are due in the order of their times, with the mint of their account', async () => {
  const rail = await openRail();
  const { store, epoch, clockAt } = rail;
  for (const account of ['a', 'b']) await open(rail, account);
  for (const [index, signature] of ['s3', 's1', 's2', 's4'].entries()) {
    await clockAt(2_000 - index * 500);
    await noteUnread(store, epoch, unreadOf(signature), null);
  }
  await clockAt(2_500);
  const due = await findUnreadDue(store, 2);
  expect(due.map(({ signature }) => signature)).toEqual(['s4', 's2']);
  expect(due[0]).toEqual({
    tokenAccount: 'a',
    mint: 'mint-a',
    signature: 's4',
    slot: 11,
    reference: null,
    attempts: 1,
  });
  expect((await findUnreadDue(store, 10)).map(({ signature }) => signature)).toEqual([
    's4',
    's2',
    's1',
  ]);
});

const to = { tokenAccount: 'a', signature: 's2', slot: 12 };
const writes: readonly (readonly [string, (rail: Rail, epoch: bigint) => Promise<unknown>])[] = [
  [
    'opening a cursor',
    ({ store }, epoch) =>
      openCursor(store, epoch, { tokenAccount: 'b', mint: 'm', signature: null, slot: 1 }),
  ],
  ['moving a cursor', ({ store }, epoch) => moveCursor(store, epoch, to)],
  [
    'taking a cursor back',
    ({ store }, epoch) => rewindCursor(store, epoch, { tokenAccount: 'a', slotMax: 1 }),
  ],
  [
    'noting an unread signature',
    ({ store }, epoch) => noteUnread(store, epoch, unreadOf('s2'), to),
  ],
];

test.each(writes)('%s by a former watcher fails and changes nothing', async (_, write) => {
  const rail = await openRail();
  await open(rail, 'a');
  const before = await cursorsOf(rail);
  await expect(write(rail, rail.epoch - 1n)).rejects.toThrow(LeaseLost);
  expect(await cursorsOf(rail)).toEqual(before);
  expect((await readWatcherStatus(rail.store, 1)).unread).toEqual([]);
});

test.each([
  ...writes,
  [
    'noting a listing',
    ({ store, openedAt }: Rail, epoch: bigint) =>
      noteListed(store, epoch, { tokenAccount: 'a', at: openedAt }),
  ] as const,
])('%s fails if Postgres refuses the cursor, and is rolled back', async (_, write) => {
  const rail = await openRail();
  await open(rail, 'a');
  await rail.refuseWrites('solana_cursors');
  await expect(write(rail, rail.epoch)).rejects.toThrow('not now');
  expect((await readWatcherStatus(rail.store, 1)).unread).toEqual([]);
});

test('a signature that cannot be noted as unread does not move the cursor', async () => {
  const rail = await openRail();
  const { store, epoch } = rail;
  await open(rail, 'a');
  const before = await cursorsOf(rail);
  await noteUnread(store, epoch, unreadOf('s1'), null);
  expect(await cursorsOf(rail)).toEqual(before);
  await noteUnread(store, epoch, unreadOf('s1'), to);
  const moved = await cursorsOf(rail);
  expect(moved).toMatchObject([{ signature: 's2', slot: '12' }]);
  await rail.refuseWrites('solana_unread_signatures');
  const later = { ...to, slot: 13 };
  await expect(noteUnread(store, epoch, unreadOf('s3'), later)).rejects.toThrow('not now');
  expect(await cursorsOf(rail)).toEqual(moved);
});
