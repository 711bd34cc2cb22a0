import { expect, test } from 'vitest';
import { readSolanaTransaction } from './solana-transaction.ts';

function balance(amount: string) {
  return {
    accountIndex: 1,
    mint: 'mint',
    uiTokenAmount: { amount, uiAmount: Number(amount) / 1e6 },
  };
}

test.each([
  ['9007199254740993', 9_007_199_254_740_992n],
  ['4100001', 4_100_000n],
])('a rise to %s units is exact', (amount, rise) => {
  const answer = {
    slot: 5,
    meta: { err: null, preTokenBalances: [balance('1')], postTokenBalances: [balance(amount)] },
    transaction: { signatures: ['s'], message: { accountKeys: ['payer', 'account'] } },
  };
  expect(readSolanaTransaction(answer, 's')).toMatchObject({
    kind: 'read',
    transaction: { rises: [{ tokenAccount: 'account', mint: 'mint', amount: rise }] },
  });
});
