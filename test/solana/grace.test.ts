import { assignPayment } from '@svc/store';
import { testAuthor } from '@svc/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSolanaWorld, type SolanaWorld } from './world.ts';

let world: SolanaWorld;
let tenantId: string;
const usdc = 1_000_000n;
const minuteMs = 60_000;

beforeEach(async () => {
  world = await openSolanaWorld();
  tenantId = await world.tenant(0);
});
afterEach(() => world.closeAudited());

test('a payment of the last seconds of the grace that is finalized after them is confirmed', async () => {
  const intent = await world.intent(tenantId, { minutes: { intent: 10, grace: 10 } });
  await world.tick(2);
  await world.advance(10.5 * minuteMs);
  await world.tick(2);
  await world.advance(9.4 * minuteMs);
  await world.tick(2);
  world.chain.finalizeAtOnce(false);
  const signature = await world.pay(5n * usdc, [intent.reference]);
  const blockTimeMs = Number(world.chain.transactions.at(-1)?.blockTime) * 1_000;
  expect(blockTimeMs).toBeLessThan(intent.graceEndsAt.getTime());
  // Finality takes 13 s. The grace ends after 6 s.
  await world.advance(7_000);
  await world.tick(2);
  await world.advance(6_000);
  world.chain.finalize();
  await world.tick(3);
  expect(await world.read(intent.reference)).toMatchObject({ status: 'confirmed', signature });
});

test('a payment of the grace without a block time is confirmed', async () => {
  const intent = await world.intent(tenantId, { minutes: { intent: 10, grace: 10 } });
  await world.tick(2);
  await world.advance(10.5 * minuteMs);
  await world.tick(2);
  expect((await world.read(intent.reference)).status).toBe('expired');
  world.rpcServer.faults.rewrite = (method, result) =>
    method === 'getTransaction' ? { ...Object(result), blockTime: null } : result;
  const signature = await world.pay(5n * usdc, [intent.reference]);
  await world.tick(2);
  expect(await world.read(intent.reference)).toMatchObject({ status: 'confirmed', signature });
});

test('a payment that completed an intent together with others gets no second grant, although the clock went back', async () => {
  const intent = await world.intent(tenantId);
  await world.tick(2);
  const first = await world.pay(2n * usdc, [intent.reference]);
  await world.tick(2);
  await world.advance(-10 * minuteMs);
  await world.pay(3n * usdc, [intent.reference]);
  await world.tick(2);
  expect((await world.read(intent.reference)).status).toBe('confirmed');
  const outcome = await assignPayment(
    world.store,
    {
      purchaseId: world.store.newId(),
      signature: first,
      tenantId,
      creditsMicros: 200n * usdc,
      reason: 'r',
    },
    testAuthor,
  );
  expect(outcome).toEqual({ kind: 'already_granted' });
  await world.intent(tenantId);
  const later = await world.pay(1n * usdc, [intent.reference]);
  await world.tick(2);
  const more = {
    purchaseId: world.store.newId(),
    signature: later,
    tenantId,
    creditsMicros: 100n * usdc,
    reason: 'r',
  };
  expect(await assignPayment(world.store, more, testAuthor)).toMatchObject({ kind: 'assigned' });
});
