import { newReference } from '@svc/solana';
import { readWatcherFigures } from '@svc/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSolanaWorld, type SolanaWorld } from './world.ts';

/** The slots that the RPC server names stop no credit, and a payment does not wait (CONTRACT 8). */

let world: SolanaWorld;
let tenantId: string;
const usdc = 1_000_000n;
const farAhead = 10 ** 12;

beforeEach(async () => {
  world = await openSolanaWorld();
  tenantId = await world.tenant(0);
});
afterEach(() => world.closeAudited());

const balance = async () => (await world.figures(tenantId)).balance;
const lagSeconds = async () => (await readWatcherFigures(world.store)).lagSeconds;
const chainSlot = () => world.chain.transactions.at(-1)?.slot ?? 0;
const cursor = async () => {
  const [row] = await world.database.query<{ slot: string; floor_slot: string }>(
    'SELECT slot, floor_slot FROM solana_cursors',
  );
  return { slot: Number(row?.slot), floor: Number(row?.floor_slot) };
};
const pay = async () => {
  const { reference } = await world.intent(tenantId);
  return world.pay(5n * usdc, [reference]);
};

/** Every list has slots that are this much too high. */
function raiseSlots(by: number): void {
  world.rpcServer.faults.rewrite = (method, result) =>
    method === 'getSignaturesForAddress' && Array.isArray(result)
      ? result.map((one: { slot: number }) => ({ ...one, slot: one.slot + by }))
      : result;
}

test('a listed slot beyond the chain moves no cursor, and no payment is lost by it', async () => {
  await world.pay(1n, [newReference()]);
  await world.intent(tenantId);
  await world.tick(2);
  raiseSlots(farAhead);
  await pay();
  await world.tick(2);
  expect(await balance()).toBe(500);
  expect((await cursor()).slot).toBeLessThanOrEqual(chainSlot());
  world.rpcServer.faults.rewrite = null;
  await pay();
  await world.tick(2);
  expect(await balance()).toBe(1_000);
  expect((await cursor()).slot).toBe(chainSlot());
});

test.each([
  ['the cursor', 'slot = $1'],
  ['the cursor and its floor', 'slot = $1, floor_slot = $1'],
])('%s beyond the chain is taken back, and what it left out is credited', async (_, change) => {
  await world.pay(1n, [newReference()]);
  await world.intent(tenantId);
  await pay();
  await world.tick(3);
  await world.database.query(`UPDATE solana_cursors SET ${change}`, [farAhead]);
  const reads = () => world.rpcServer.calls.filter(({ method }) => method === 'getTransaction');
  const before = reads().length;
  await pay();
  const next = world.watcherOf('watcher-2');
  await world.watcher.close();
  await world.tick(3, next);
  expect(await balance()).toBe(1_000);
  // The payment that is recorded is not read again.
  expect(reads().length - before).toBeLessThanOrEqual(2);
  const { slot, floor } = await cursor();
  expect(slot).toBe(chainSlot());
  expect(floor).toBeLessThan(slot);
});

test('a server whose slots are all beyond its chain shows in the lag', async () => {
  await world.pay(1n, [newReference()]);
  await world.intent(tenantId);
  await world.tick(2);
  await pay();
  world.rpcServer.faults.rewrite = (method, result) => (method === 'getSlot' ? 1 : result);
  const next = world.watcherOf('watcher-2');
  await world.watcher.close();
  await world.tick(3, next);
  await world.advance(9_000);
  await world.tick(3, next);
  expect(await balance()).toBe(500);
  await world.advance(60_000);
  await world.tick(3, next);
  expect(await lagSeconds()).toBeGreaterThan(60);
  world.rpcServer.faults.rewrite = null;
  await world.tick(3, next);
  expect(await lagSeconds()).toBeLessThan(60);
});

test('no cursor begins beyond the chain', async () => {
  await world.pay(1n, [newReference()]);
  raiseSlots(farAhead);
  await world.intent(tenantId);
  await world.tick(3);
  expect(await world.database.query('SELECT 1 FROM solana_cursors')).toEqual([]);
  await world.advance(61_000);
  expect(await lagSeconds()).toBeGreaterThan(60);
  world.rpcServer.faults.rewrite = null;
  await pay();
  await world.tick(3);
  expect(await balance()).toBe(500);
});

test.each([3, 17, 30])(
  'a payment that is listed %i s before it can be read is credited within 5 s after',
  async (seconds) => {
    await world.intent(tenantId);
    await world.tick(2);
    const { notFound } = world.rpcServer.faults;
    const signature = await pay();
    notFound.add(signature);
    for (let second = 0; second < seconds; second += 1) {
      await world.tick(1);
      await world.advance(1_000);
    }
    expect(world.counted).toContain('unread');
    expect(await balance()).toBe(0);
    notFound.clear();
    for (let second = 0; second < 5; second += 1) {
      await world.advance(1_000);
      await world.tick(1);
    }
    expect(await balance()).toBe(500);
  },
);

test('a block time that no date can hold delays no other payment', async () => {
  await world.intent(tenantId);
  await world.tick(2);
  const first = await pay();
  const isFirst = () => world.rpcServer.calls.at(-1)?.params[0] === first;
  world.rpcServer.faults.rewrite = (method, result) =>
    method === 'getTransaction' && isFirst()
      ? { ...Object(result), blockTime: Number.MAX_SAFE_INTEGER }
      : result;
  await pay();
  await world.tick(2);
  expect(await balance()).toBe(500);
  world.rpcServer.faults.rewrite = null;
  await world.advance(5_000);
  await world.tick(2);
  expect(await balance()).toBe(1_000);
});
