import { generateKeyPairSigner } from '@solana/kit';
import { expect, onTestFinished, test } from 'vitest';
import { memo, send, tokenAccountOf, transfer } from './chain/payer.ts';
import { openSolanaWorld } from './world.ts';

test('transactions that only name references do not keep the watcher from polling the token account', async () => {
  const world = await openSolanaWorld();
  onTestFinished(() => world.closeAll());
  const tenantId = await world.tenant(0);
  const minutes = { intent: 10, grace: 10 };
  const intents = await Promise.all([1, 2].map(() => world.intent(tenantId, { minutes })));
  await world.tick(2);
  const stranger = (await generateKeyPairSigner()).address;
  const elsewhere = await tokenAccountOf(stranger, world.mint);
  world.chain.createTokenAccount(elsewhere, { mint: world.mint, owner: stranger });
  const references = intents.map(({ reference }) => reference);
  for (let count = 0; count < 60; count += 1) {
    const paying = transfer(world.payer, elsewhere, 1n, references);
    await send(world.rpcServer.url, world.payer, [memo(), paying]);
  }
  await world.advance(9.9 * 60_000);
  let nowMs = 0;
  const pollsMs: number[] = [];
  // The budget is 10 calls a second.
  world.rpcServer.faults.rewrite = (method, result) => {
    world.moveClock(100);
    nowMs += 100;
    const { params } = world.rpcServer.calls.at(-1) ?? { params: [] };
    if (method === 'getSignaturesForAddress' && params[0] === world.tokenAccount)
      pollsMs.push(nowMs);
    return result;
  };
  for (let count = 0; count < 12; count += 1) {
    nowMs += 1_500;
    await world.tick();
  }
  const gaps = pollsMs.map((ms, index) => ms - (pollsMs[index - 1] ?? ms));
  const asked = await world.database.query(
    'SELECT count(asked_at)::int AS count FROM purchase_intents',
  );
  expect(asked).toEqual([{ count: 2 }]);
  expect(Math.max(...gaps)).toBeLessThan(7_000);
});
