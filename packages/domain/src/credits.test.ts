import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { creditsMicrosMax, creditsToNumber, formatCredits, parseCreditsExact } from './credits.ts';

const amounts = fc.bigInt({ min: 0n, max: creditsMicrosMax });

test.each([
  ['0', 0n],
  ['-0', 0n],
  ['200', 200_000_000n],
  ['0.000001', 1n],
  ['1e-6', 1n],
  ['1.0000000', 1_000_000n],
  ['42.95', 42_950_000n],
  ['999999999.999999', creditsMicrosMax],
])('%s credits are %d micro-credits', (text, micros) => {
  expect(parseCreditsExact(text)).toBe(micros);
});

test.each(['', 'x', '-1', '-0.000001', '0.0000001', '1e-7', '1000000000', '1e9', '1e300', '1,5'])(
  'an inexact, negative or too large amount is refused: %j',
  (text) => {
    expect(parseCreditsExact(text)).toBeUndefined();
  },
);

test('formatted amounts parse back, and negative amounts keep their sign', () => {
  fc.assert(
    fc.property(amounts, (micros) => {
      expect(parseCreditsExact(formatCredits(micros))).toBe(micros);
      expect(formatCredits(-micros)).toBe(micros === 0n ? '0' : `-${formatCredits(micros)}`);
    }),
  );
});

test('every amount is exact on the wire, never a neighbouring double', () => {
  fc.assert(
    fc.property(amounts, (micros) => {
      const wire = JSON.stringify(creditsToNumber(micros));
      expect(wire).toBe(formatCredits(micros));
      expect(parseCreditsExact(wire)).toBe(micros);
    }),
    { numRuns: 1000 },
  );
});

test('an amount without an exact number is not printed', () => {
  expect(JSON.stringify(creditsToNumber(creditsMicrosMax))).toBe('999999999.999999');
  expect(() => creditsToNumber(creditsMicrosMax + 1n)).toThrow(
    'from -creditsMicrosMax to creditsMicrosMax',
  );
  expect(() => creditsToNumber(-creditsMicrosMax - 1n)).toThrow(
    'from -creditsMicrosMax to creditsMicrosMax',
  );
});
