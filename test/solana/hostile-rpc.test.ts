import { newReference } from '@svc/solana';
import { findUnexplained, LeaseLost, recordTransaction, takeWatcherLease } from '@svc/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSolanaWorld, type SolanaWorld } from './world.ts';

/**
 * The watcher loses no payment and grants none twice, although the RPC server has faults
 * (CONTRACT 8).
 */

let world: SolanaWorld;
let tenantId: string;
const usdc = 1_000_000n;
const minuteMs = 60_000;

beforeEach(async () => {
  world = await openSolanaWorld();
  tenantId = await world.tenant(0);
});
afterEach(() => world.closeAudited());

const balance = async () => (await world.figures(tenantId)).balance;
const callsOf = (method: string) =>
  world.rpcServer.calls.filter((call) => call.method === method).length;

test('only a finalized transaction is credited, and one that is dropped never is', async () => {
  const intent = await world.intent(tenantId);
  for (const ignoresCommitment of [false, true]) {
    world.rpcServer.faults.ignoresCommitment = ignoresCommitment;
    world.chain.finalizeAtOnce(false);
    await world.pay(5n * usdc, [intent.reference]);
    await world.tick(3);
    expect(await balance()).toBe(0);
    world.chain.dropUnfinalized();
    await world.tick(3);
    expect(await balance()).toBe(0);
  }
  world.rpcServer.faults.ignoresCommitment = false;
  const signature = await world.pay(5n * usdc, [intent.reference]);
  await world.tick(3);
  expect(await balance()).toBe(0);
  world.chain.finalize();
  await world.tick(2);
  expect(await world.read(intent.reference)).toMatchObject({ status: 'confirmed', signature });
  expect(await balance()).toBe(500);
});

test('an RPC server that lags, refuses, shuffles or truncates delays a payment and loses none', async () => {
  const { faults } = world.rpcServer;
  const intents = await Promise.all([1, 2, 3, 4, 5, 6].map(() => world.intent(tenantId)));
  await world.tick(2);
  await world.pay(5n * usdc, [intents[0]?.reference ?? '']);
  await world.tick(2);
  expect(await balance()).toBe(500);
  faults.lag = 3;
  for (const { reference } of intents.slice(1, 3)) await world.pay(5n * usdc, [reference]);
  await world.tick(2);
  expect(await balance()).toBe(500);
  faults.lag = 0;
  faults.status = 429;
  await world.tick(2);
  expect(await balance()).toBe(500);
  faults.status = null;
  faults.shufflesLists = true;
  world.moveClock(minuteMs);
  await world.tick(3);
  expect(await balance()).toBe(1_500);
  faults.shufflesLists = false;
  // The server lists one signature a page, so the watcher pages back until it finds its cursor.
  faults.listMax = 1;
  for (const { reference } of intents.slice(3)) await world.pay(5n * usdc, [reference]);
  await world.tick(3);
  expect(await balance()).toBe(3_000);
});

test('a backlog is read oldest first, and the cursor never passes a signature that was not read', async () => {
  const intent = await world.intent(tenantId);
  await world.tick(2);
  for (let count = 0; count < 45; count += 1) await world.pay(1n, [newReference()]);
  await world.pay(5n * usdc, [intent.reference]);
  await world.tick(1);
  const [cursor] = await world.database.query<{ slot: string }>('SELECT slot FROM solana_cursors');
  const newest = await world.database.query<{ slot: string }>(
    'SELECT max(slot) AS slot, count(*)::int AS count FROM solana_payments',
  );
  expect(newest).toEqual([{ slot: cursor?.slot, count: 40 }]);
  await world.watcher.close();
  const next = world.watcherOf('watcher-2');
  await world.tick(6, next);
  expect(await balance()).toBe(500);
  expect(callsOf('getTransaction')).toBeLessThan(2 * 46 + 10);
});

test.each([
  ['grant', 'purchases', 'INSERT'],
  ['move of the cursor', 'solana_cursors', 'UPDATE'],
])(
  'a payment whose %s fails in Postgres is rolled back as a whole and credited later',
  async (_, table, step) => {
    const intent = await world.intent(tenantId);
    await world.pay(1n, [newReference()]);
    await world.tick(2);
    const cursors = () => world.database.query('SELECT signature, slot FROM solana_cursors');
    const before = await cursors();
    const signature = await world.pay(5n * usdc, [intent.reference]);
    await world.database.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
     CREATE TRIGGER refuse BEFORE ${step} ON ${table} EXECUTE FUNCTION refuse()`,
    );
    await expect(world.tick(1)).rejects.toThrow('not now');
    expect(await cursors()).toEqual(before);
    expect(await world.read(intent.reference)).toMatchObject({ paidUsdcMicros: 0n, payments: [] });
    expect(await balance()).toBe(0);
    await world.database.query('DROP FUNCTION refuse CASCADE');
    await world.tick(2);
    expect(await world.read(intent.reference)).toMatchObject({ status: 'confirmed', signature });
    expect(await balance()).toBe(500);
    expect(await cursors()).not.toEqual(before);
  },
);

test('an RPC server that hangs credits nothing, and the payment is credited when it answers again', async () => {
  const intent = await world.intent(tenantId);
  await world.tick(2);
  await world.pay(5n * usdc, [intent.reference]);
  world.rpcServer.faults.hangs = true;
  await world.tick(1);
  expect(world.watcher.problem()).toMatch(/^a call to the RPC server failed: /);
  expect(await balance()).toBe(0);
  world.rpcServer.faults.hangs = false;
  world.moveClock(minuteMs);
  await world.tick(2);
  expect(world.watcher.problem()).toBeNull();
  expect(await balance()).toBe(500);
});

test('a payment below 2,000 newer signatures is found page by page, back to the cursor', async () => {
  const intent = await world.intent(tenantId);
  await world.pay(1n, [newReference()]);
  await world.tick(2);
  await world.pay(5n * usdc, [intent.reference]);
  world.chain.spam(world.tokenAccount, 2_000);
  world.rpcServer.calls.length = 0;
  await world.tick(1);
  expect(await balance()).toBe(500);
  const pages = world.rpcServer.calls.filter(({ method }) => method === 'getSignaturesForAddress');
  expect(pages.map(({ params }) => params[1])).toMatchObject([
    { limit: 100, commitment: 'finalized' },
    { limit: 1_000, before: expect.any(String) },
    { limit: 1_000, before: expect.any(String) },
  ]);
  // All spam transactions failed, and the watcher does not read failed transactions.
  expect(callsOf('getTransaction')).toBe(1);
  const [cursor] = await world.database.query<{ signature: string }>(
    'SELECT signature FROM solana_cursors',
  );
  expect(cursor?.signature).toBe(world.chain.transactions.at(-1)?.signature);
});

test('a transaction that is not found yet is retried and does not delay others', async () => {
  const [lost, other] = [await world.intent(tenantId), await world.intent(tenantId)];
  await world.tick(2);
  const signature = await world.pay(5n * usdc, [lost.reference]);
  world.rpcServer.faults.notFound.add(signature);
  await world.pay(5n * usdc, [other.reference]);
  await world.tick(2);
  expect(await balance()).toBe(500);
  expect(world.counted).toContain('unread');
  world.rpcServer.faults.notFound.clear();
  await world.advance(2 * minuteMs);
  await world.tick(2);
  expect(await balance()).toBe(1_000);
});

test('a transaction that cannot be read is retried for ever, and its intent does not end', async () => {
  const intent = await world.intent(tenantId, { minutes: { intent: 1, grace: 1 } });
  await world.tick(2);
  await world.pay(5n * usdc, [intent.reference]);
  const { faults } = world.rpcServer;
  faults.rewrite = (method, result) => (method === 'getTransaction' ? { slot: 1 } : result);
  await world.tick(2);
  for (let step = 0; step < 6; step += 1) {
    await world.advance(minuteMs);
    await world.tick(2);
  }
  const { isClosed, status } = await world.read(intent.reference);
  expect({ isClosed, status }).toEqual({ isClosed: false, status: 'pending' });
  faults.rewrite = null;
  await world.advance(6 * minuteMs);
  await world.tick(3);
  expect((await world.read(intent.reference)).status).toBe('confirmed');
});

test('a payment of the grace that the server lists and reads late is still confirmed', async () => {
  const intent = await world.intent(tenantId, { minutes: { intent: 10, grace: 10 } });
  await world.tick(2);
  await world.advance(19.5 * minuteMs);
  await world.tick(2);
  const signature = await world.pay(5n * usdc, [intent.reference]);
  const { notFound } = world.rpcServer.faults;
  notFound.add(signature);
  await world.advance(minuteMs);
  await world.tick(3);
  expect(world.counted).toContain('unread');
  notFound.clear();
  await world.advance(6 * minuteMs);
  await world.tick(3);
  expect(await world.read(intent.reference)).toMatchObject({ status: 'confirmed', signature });
});

test.each([
  ['another signature', { transaction: { signatures: ['x'], message: { accountKeys: [] } } }],
  ['no meta', { meta: null }],
  ['a fraction of a unit', 'amount'],
])('a transaction with %s is not believed', async (_, change) => {
  // The database's clock stands still. Otherwise a busy machine needs more than a second for the
  // ticks, and the transaction is read a second time.
  await world.stopClock();
  const intent = await world.intent(tenantId);
  await world.tick(2);
  await world.pay(5n * usdc, [intent.reference]);
  world.rpcServer.faults.rewrite = (method, result) => {
    if (method !== 'getTransaction') return result;
    if (change === 'amount') {
      const text = JSON.stringify(result, (_key, value) =>
        typeof value === 'bigint' ? Number(value) : value,
      );
      return JSON.parse(text.replaceAll('"amount":"5000000"', '"amount":"5000000.5"'));
    }
    return { ...Object(result), ...Object(change) };
  };
  await world.tick(3);
  expect(await balance()).toBe(0);
  expect(world.counted).toEqual(['unread']);
  await world.advance(1_000);
  await world.tick();
  expect(world.counted).toEqual(['unread', 'unread']);
});

test('a payment that the lists of the account leave out is found by its reference before the expiry', async () => {
  const intent = await world.intent(tenantId, { minutes: { intent: 10, grace: 10 } });
  await world.tick(2);
  const signature = await world.pay(5n * usdc, [intent.reference]);
  world.rpcServer.faults.rewrite = (method, result) =>
    method === 'getSignaturesForAddress' &&
    world.rpcServer.calls.at(-1)?.params[0] === world.tokenAccount
      ? []
      : result;
  await world.tick(2);
  expect(await balance()).toBe(0);
  await world.advance(9.9 * minuteMs);
  await world.tick(2);
  expect(await world.read(intent.reference)).toMatchObject({ status: 'confirmed', signature });
  const asked = world.rpcServer.calls.filter(({ params }) => params[0] === intent.reference);
  const page = { commitment: 'finalized', limit: 1_000 };
  expect(asked.map(({ params }) => params[1])).toEqual([page, { ...page, before: signature }]);
});

test('a payment is found by its reference on the last page of a server with short pages', async () => {
  const intent = await world.intent(tenantId, { minutes: { intent: 10, grace: 10 } });
  await world.tick(2);
  const { faults } = world.rpcServer;
  faults.listMax = 1;
  faults.rewrite = (method, result) =>
    method === 'getSignaturesForAddress' &&
    world.rpcServer.calls.at(-1)?.params[0] === world.tokenAccount
      ? []
      : result;
  const signature = await world.pay(5n * usdc, [intent.reference]);
  await world.pay(1n, [intent.reference]);
  await world.advance(9.9 * minuteMs);
  await world.tick(2);
  expect(await world.read(intent.reference)).toMatchObject({ status: 'confirmed', signature });
});

test('an intent expires, is confirmed within its grace, and after it fails or stays expired', async () => {
  const minutes = { intent: 10, grace: 10 };
  const [late, part, never] = [
    await world.intent(tenantId, { minutes }),
    await world.intent(tenantId, { minutes }),
    await world.intent(tenantId, { minutes }),
  ];
  const statuses = async () =>
    Promise.all(
      [late, part, never].map(async ({ reference }) => (await world.read(reference)).status),
    );
  await world.pay(1n * usdc, [part.reference]);
  await world.tick(2);
  await world.advance(11 * minuteMs);
  world.rpcServer.faults.status = 500;
  await world.tick(1);
  // The RPC server answered each call of this tick with status 500, so no intent may expire.
  expect(await statuses()).toEqual(['pending', 'pending', 'pending']);
  world.rpcServer.faults.status = null;
  world.moveClock(minuteMs);
  await world.tick(2);
  expect(await statuses()).toEqual(['expired', 'expired', 'expired']);
  await world.pay(5n * usdc, [late.reference]);
  await world.tick(2);
  expect(await statuses()).toEqual(['confirmed', 'expired', 'expired']);
  await world.advance(10 * minuteMs);
  await world.tick(3);
  expect(await statuses()).toEqual(['confirmed', 'failed', 'expired']);
  const tooLate = await world.pay(5n * usdc, [never.reference]);
  await world.intent(tenantId);
  await world.tick(3);
  expect(await statuses()).toEqual(['confirmed', 'failed', 'expired']);
  expect(await balance()).toBe(500);
  const unexplained = (await findUnexplained(world.store, 10)).map(({ signature }) => signature);
  expect(unexplained).toContain(tooLate);
  expect(unexplained).toHaveLength(2);
});

test('on a wrong genesis hash nothing is credited and the watcher says why', async () => {
  const intent = await world.intent(tenantId);
  await world.tick(2);
  world.rpcServer.faults.status = 503;
  await world.tick(1);
  world.rpcServer.faults.status = null;
  world.rpcServer.faults.genesisHash = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
  await world.pay(5n * usdc, [intent.reference]);
  world.moveClock(minuteMs);
  await world.tick(3);
  expect(world.watcher.problem()).toContain('SOLANA_RPC_URL is a server of mainnet');
  expect(await balance()).toBe(0);
  world.rpcServer.faults.genesisHash = 'another';
  world.moveClock(minuteMs);
  await world.tick(2);
  expect(world.watcher.problem()).toBeNull();
  expect(await balance()).toBe(500);
});

test('two watchers credit a payment once, and the one without the lease writes nothing', async () => {
  const intent = await world.intent(tenantId);
  const second = world.watcherOf('watcher-2');
  await world.tick(2);
  world.rpcServer.faults.status = 503;
  await world.tick(1);
  world.rpcServer.faults.status = null;
  const lease = await takeWatcherLease(world.store, { holder: 'watcher-1', leaseMs: 1 });
  await world.advance(minuteMs);
  const signature = await world.pay(5n * usdc, [intent.reference]);
  await world.tick(2, second);
  expect(await balance()).toBe(500);
  const found = {
    signature: `${signature.slice(0, -2)}11`,
    slot: 9_999,
    blockTimeSeconds: null,
    accountKeys: [(await world.intent(tenantId)).reference],
    payments: [{ tokenAccount: world.tokenAccount, mint: world.mint, amountUsdcMicros: 5n * usdc }],
  };
  await expect(recordTransaction(world.store, lease?.epoch ?? 0n, found, null)).rejects.toThrow(
    LeaseLost,
  );
  expect(world.watcher.problem()).toContain('503');
  await world.tick(2);
  expect(world.watcher.problem()).toBeNull();
  expect(await balance()).toBe(500);
});

test('a poll costs the same calls with 1 and with 10,000 open intents', async () => {
  const callsPerPoll = async () => {
    await world.tick(2);
    const before = world.rpcServer.calls.length;
    await world.tick(4);
    return world.rpcServer.calls.length - before;
  };
  const intent = await world.intent(tenantId);
  await world.pay(1n, [newReference()]);
  const one = await callsPerPoll();
  await world.database.query(
    `INSERT INTO purchase_intents (reference, tenant_id, credits_micros, amount_usdc_micros, status,
       recipient, token_account, mint, usd_per_credit_micros, created_at, expires_at, grace_ends_at,
       ask_at, ask_again_at)
     SELECT 'planted-' || number, tenant_id, credits_micros, amount_usdc_micros, status, recipient,
       token_account, mint, usd_per_credit_micros, created_at, expires_at, grace_ends_at, ask_at, ask_again_at
     FROM purchase_intents, generate_series(1, 9999) number WHERE reference = $1`,
    [intent.reference],
  );
  expect(one).toBe(4);
  expect(await callsPerPoll()).toBe(4);
});

test('without an open intent the watcher makes at most one call a minute', async () => {
  await world.tick(2);
  const before = world.rpcServer.calls.length;
  await world.pay(1n, [newReference()]);
  const sent = world.rpcServer.calls.length;
  await world.tick(80);
  expect(world.rpcServer.calls.length - sent).toBeLessThanOrEqual(2);
  expect(before).toBe(1);
});

test('an operator who was faster than the watcher is not granted twice', async () => {
  const intent = await world.intent(tenantId);
  await world.tick(2);
  const signature = await world.pay(5n * usdc, [intent.reference]);
  await world.database.query(
    `INSERT INTO purchases (id, tenant_id, reference, credits_micros, available_after_micros, created_at)
     VALUES (gen_random_uuid(), $1, $2, 1, 1, svc_now())`,
    [tenantId, `solana:${signature}`],
  );
  await world.tick(3);
  expect((await world.read(intent.reference)).status).toBe('pending');
  await world.database.query('DELETE FROM purchases');
});
