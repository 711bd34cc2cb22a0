import { expect, test } from 'vitest';
import { problemOf } from '../answers.fixture.ts';
import { useGateways } from '../gateway.fixture.ts';

const gateways = await useGateways({
  SOLANA_RAIL_ENABLED: 'true',
  SOLANA_RPC_URL: 'http://127.0.0.1:9',
  SOLANA_RECIPIENT: '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
  SOLANA_USDC_MINT: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
});

test.each(['', '/await', '/qr.svg'])(
  'a malformed reference is unknown at …/:reference%s',
  async (end) => {
    const tenant = await gateways.tenant();
    for (const reference of ['x', '%00', 'a%00b', '%F0%9F%98%80', 'a'.repeat(4_000)]) {
      const answer = await tenant.send({
        target: `/v1/credits/purchase-intents/${reference}${end}`,
      });
      expect([reference.slice(0, 9), problemOf(answer).code]).toEqual([
        reference.slice(0, 9),
        'not_found',
      ]);
    }
  },
);
