import * as crypto from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { verifyRequest } from './request-signature.ts';

vi.mock('node:crypto', async (importOriginal) => {
  const original = await importOriginal<typeof crypto>();
  return {
    ...original,
    createHmac: vi.fn<typeof original.createHmac>(original.createHmac),
    timingSafeEqual: vi.fn<typeof original.timingSafeEqual>(original.timingSafeEqual),
  };
});

function work(secrets: readonly string[]): { hmacs: number; comparisons: number } {
  vi.mocked(crypto.createHmac).mockClear();
  vi.mocked(crypto.timingSafeEqual).mockClear();
  const verification = verifyRequest({
    secrets,
    timestamp: '1795000000',
    signature: `v1=${'0'.repeat(64)}`,
    nowSeconds: 1_795_000_000,
    method: 'GET',
    target: '/v1/credits/balance',
    bodySha256: '',
  });
  expect(verification).toEqual({ kind: 'wrong_signature' });
  return {
    hmacs: vi.mocked(crypto.createHmac).mock.calls.length,
    comparisons: vi.mocked(crypto.timingSafeEqual).mock.calls.length,
  };
}

test('an unknown key costs the same HMAC and the same comparison as a known one', () => {
  expect(work(['hsk_test_known'])).toEqual({ hmacs: 1, comparisons: 1 });
  expect(work([])).toEqual({ hmacs: 1, comparisons: 1 });
});
