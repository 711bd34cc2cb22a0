import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { address, generateKeyPairSigner } from '@solana/kit';
import { newReference } from '@svc/solana';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { token2022Program } from './chain/local-chain.ts';
import { createPayer, memo, send, tokenAccountOf, transfer } from './chain/payer.ts';
import { openSolanaWorld, type SolanaWorld } from './world.ts';

/**
 * The service credits payments of finalized transactions on the Solana VM (CONTRACT 8, "Payments").
 */

let world: SolanaWorld;
let tenantId: string;

beforeAll(async () => {
  world = await openSolanaWorld();
  tenantId = await world.tenant(0);
});
afterAll(() => world.closeAll());
afterEach(() => {
  world.counted.length = 0;
});

const usdc = 1_000_000n;

async function grantedBy(work: () => Promise<void>): Promise<number> {
  const { balance } = await world.figures(tenantId);
  await work();
  return (await world.figures(tenantId)).balance - balance;
}

test.each(['legacy', 0] as const)('a payment of version %s is credited once', async (version) => {
  const intent = await world.intent(tenantId);
  const signature = await world.pay(5n * usdc, [intent.reference], { version });
  expect(await grantedBy(() => world.tick(3))).toBe(500);
  expect(await grantedBy(() => world.tick(3))).toBe(0);
  const paid = await world.read(intent.reference);
  expect(paid).toMatchObject({ status: 'confirmed', signature, paidUsdcMicros: 5n * usdc });
  expect(paid.payments).toMatchObject([{ signature, amountUsdcMicros: 5n * usdc }]);
  const [grant] = await world.database.query<{ reference: string }>(
    'SELECT reference FROM purchases ORDER BY created_at DESC LIMIT 1',
  );
  expect(grant).toEqual({ reference: `solana:${signature}` });
});

test('accounts from a lookup table name the reference and the token account', async () => {
  const intent = await world.intent(tenantId);
  const table = (await generateKeyPairSigner()).address;
  const addresses = [address(intent.reference), world.tokenAccount];
  world.chain.createLookupTable(table, addresses);
  await world.pay(5n * usdc, [intent.reference], { table: { address: table, addresses } });
  expect(world.chain.transactions.at(-1)?.loadedReadonly).toEqual([intent.reference]);
  expect(await grantedBy(() => world.tick(2))).toBe(500);
});

test('a transaction of version 1 is credited', async () => {
  const intent = await world.intent(tenantId);
  await world.pay(5n * usdc, [intent.reference]);
  const recorded = world.chain.transactions.at(-1);
  if (recorded === undefined) throw new Error('the chain has no transaction');
  Object.assign(recorded, { version: 1 });
  expect(await grantedBy(() => world.tick(2))).toBe(500);
});

test('a batch of transfers to one account counts by its sum', async () => {
  const intent = await world.intent(tenantId);
  const half = transfer(world.payer, world.tokenAccount, (5n * usdc) / 2n, [intent.reference]);
  await send(world.rpcServer.url, world.payer, [half, memo(), half]);
  expect(await grantedBy(() => world.tick(2))).toBe(500);
});

test('several payments to one reference add up, and an overpayment grants nothing more', async () => {
  const intent = await world.intent(tenantId);
  // This second intent keeps the watcher polling after the first one is confirmed.
  await world.intent(tenantId);
  await world.pay(2n * usdc, [intent.reference]);
  expect(await grantedBy(() => world.tick(2))).toBe(0);
  expect(await world.read(intent.reference)).toMatchObject({ status: 'pending', signature: null });
  const signature = await world.pay(3n * usdc, [intent.reference]);
  expect(await grantedBy(() => world.tick(2))).toBe(500);
  await world.pay(1n, [intent.reference]);
  expect(await grantedBy(() => world.tick(2))).toBe(0);
  const paid = await world.read(intent.reference);
  expect(paid).toMatchObject({ status: 'confirmed', signature, paidUsdcMicros: 5n * usdc + 1n });
  expect(paid.payments).toHaveLength(3);
});

test('with several references a transaction pays the oldest intent whose amount it covers', async () => {
  const [large, small, other] = [
    await world.intent(tenantId, { credits: 900 }),
    await world.intent(tenantId, { credits: 500 }),
    await world.intent(tenantId, { credits: 500 }),
  ];
  const references = [other.reference, small.reference, large.reference];
  await world.pay(5n * usdc, references);
  expect(await grantedBy(() => world.tick(2))).toBe(500);
  expect((await world.read(small.reference)).status).toBe('confirmed');
  await world.pay(1n * usdc, references);
  await world.tick(2);
  // The payment is less than the amount of each open intent. All of it goes to the oldest one.
  expect((await world.read(large.reference)).paidUsdcMicros).toBe(1n * usdc);
  expect((await world.read(other.reference)).paidUsdcMicros).toBe(0n);
});

test('a failed transaction with the reference pays nothing', async () => {
  const intent = await world.intent(tenantId);
  const poor = await createPayer(world.chain, world.mint, 1n);
  const paying = transfer(poor, world.tokenAccount, 5n * usdc, [intent.reference]);
  await send(world.rpcServer.url, poor, [memo(), paying]);
  expect(world.chain.transactions.at(-1)?.err).not.toBeNull();
  expect(await grantedBy(() => world.tick(3))).toBe(0);
  expect((await world.read(intent.reference)).paidUsdcMicros).toBe(0n);
});

test('tokens of another mint, of Token-2022, or to another account pay nothing', async () => {
  const intent = await world.intent(tenantId);
  const stranger = await generateKeyPairSigner();
  for (const program of [TOKEN_PROGRAM_ADDRESS, token2022Program]) {
    const mint = (await generateKeyPairSigner()).address;
    world.chain.createMint(mint, stranger.address, 6, program);
    const thief = await createPayer(world.chain, mint, 10n ** 9n, program);
    const own = await tokenAccountOf(world.recipient, mint, program);
    world.chain.createTokenAccount(own, { mint, owner: address(world.recipient), program });
    const named = [intent.reference, world.tokenAccount];
    await send(world.rpcServer.url, thief, [memo(), transfer(thief, own, 5n * usdc, named)]);
    expect(world.chain.transactions.at(-1)?.err).toBeNull();
  }
  const elsewhere = await tokenAccountOf(stranger.address, world.mint);
  world.chain.createTokenAccount(elsewhere, { mint: address(world.mint), owner: stranger.address });
  await send(world.rpcServer.url, world.payer, [
    memo(),
    transfer(world.payer, elsewhere, 5n * usdc, [intent.reference, world.tokenAccount]),
  ]);
  expect(world.chain.transactions.at(-1)?.err).toBeNull();
  expect(await grantedBy(() => world.tick(3))).toBe(0);
  expect((await world.read(intent.reference)).paidUsdcMicros).toBe(0n);
});

test('a payment that does not fit into the balance is recorded, grants nothing and stops nobody', async () => {
  const rich = await world.tenant(999_999_900);
  const [full, other] = [await world.intent(rich), await world.intent(tenantId)];
  await world.pay(5n * usdc, [full.reference]);
  await world.pay(5n * usdc, [other.reference]);
  expect(await grantedBy(() => world.tick(2))).toBe(500);
  expect(world.counted.toSorted()).toEqual(['balance_too_large', 'granted']);
  expect(await world.read(full.reference)).toMatchObject({
    status: 'pending',
    signature: null,
    paidUsdcMicros: 5n * usdc,
  });
  expect(await world.figures(rich)).toMatchObject({ balance: 999_999_900 });
});

test('a transfer without a known reference is listed and grants nothing', async () => {
  const signature = await world.pay(7n * usdc, [newReference()]);
  expect(await grantedBy(() => world.tick(2))).toBe(0);
  const rows = await world.database.query(
    'SELECT signature, reference, amount_usdc_micros AS amount FROM solana_payments WHERE reference IS NULL',
  );
  expect(rows).toEqual([{ signature, reference: null, amount: '7000000' }]);
});

test('the ledger adds up after all of this', async () => {
  const { auditLedger } = await import('@svc/store');
  expect((await auditLedger(world.store)).faults).toEqual([]);
});
