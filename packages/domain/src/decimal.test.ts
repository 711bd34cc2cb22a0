import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addDecimals,
  compareDecimals,
  type Decimal,
  decimalOf,
  decimalOfMicros,
  formatDecimal,
  multiplyDecimals,
  parseDecimal,
  roundHalfUpToMicros,
} from './decimal.ts';

const decimals = fc
  .tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat({ max: 30 }))
  .map(([digits, scale]) => decimalOf(digits, scale));
const naturals = decimals.filter((decimal) => decimal.digits >= 0n);

function read(text: string): Decimal {
  const decimal = parseDecimal(text);
  if (decimal === undefined) throw new Error(`not a decimal: ${text}`);
  return decimal;
}

describe('reading', () => {
  test.each([
    ['0', '0'],
    ['-0', '0'],
    ['0.0', '0'],
    ['0e400', '0'],
    ['1.50', '1.5'],
    ['100', '100'],
    ['1e3', '1000'],
    ['1E+3', '1000'],
    ['1.25e1', '12.5'],
    ['1.25e-3', '0.00125'],
    ['-12.5e-1', '-1.25'],
    ['9007199254740993', '9007199254740993'],
    ['0.1000000000000000055511151231257827', '0.1000000000000000055511151231257827'],
  ])('%s has the exact value %s', (text, plain) => {
    expect(formatDecimal(read(text))).toBe(plain);
  });

  test.each(['', ' 1', '1 ', '+1', '01', '.5', '5.', '1e', '1e1.5', '0x10', '1_000', 'NaN', '١'])(
    'a text that is not a JSON number is refused: %j',
    (text) => {
      expect(parseDecimal(text)).toBeUndefined();
    },
  );

  test('digits and exponents are bounded, by value and not by spelling', () => {
    expect(parseDecimal('9'.repeat(400))).toBeDefined();
    expect(parseDecimal('9'.repeat(401))).toBeUndefined();
    const inside = ['1e400', '1e-400', '0.01e402', '1000.0e397', '10e-401'];
    expect(inside.filter((text) => parseDecimal(text) === undefined)).toEqual([]);
    const outside = ['1e401', '1e-401', '10e400', '0.1e-400', `1e${'9'.repeat(400)}`];
    expect(outside.filter((text) => parseDecimal(text) !== undefined)).toEqual([]);
    expect(parseDecimal('0e999999')).toEqual(read('0'));
    expect(parseDecimal(`0.${'0'.repeat(999)}`)).toBeUndefined();
  });

  test('the longest and the finest value parse back from plain notation', () => {
    for (const text of [`-${'9'.repeat(400)}e400`, `-${'9'.repeat(400)}e-400`]) {
      expect(parseDecimal(formatDecimal(read(text)))).toEqual(read(text));
    }
  });

  test('formatted values parse back as the same value', () => {
    fc.assert(
      fc.property(decimals, (decimal) => {
        expect(parseDecimal(formatDecimal(decimal))).toEqual(decimal);
      }),
    );
  });

  test('every double is read with the value JSON prints for it', () => {
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(finite, (value) => {
        expect(Number(formatDecimal(read(JSON.stringify(value))))).toBe(value === 0 ? 0 : value);
      }),
      { numRuns: 1000, examples: [[Number.MAX_VALUE], [Number.MIN_VALUE], [2 ** -1022]] },
    );
  });
});

describe('comparing', () => {
  test('equal values are equal however they are written', () => {
    expect(compareDecimals(read('1.0'), read('10e-1'))).toBe(0);
    expect(compareDecimals(read('9007199254740993'), read('9007199254740992'))).toBe(1);
    expect(compareDecimals(read('-1'), read('0.001'))).toBe(-1);
  });

  test('the order is total and agrees with subtraction', () => {
    fc.assert(
      fc.property(decimals, decimals, (a, b) => {
        const { digits } = addDecimals(a, { ...b, digits: -b.digits });
        const sign = digits === 0n ? 0 : digits > 0n ? 1 : -1;
        expect(compareDecimals(a, b)).toBe(sign);
        expect(compareDecimals(b, a)).toBe(sign === 0 ? 0 : -sign);
      }),
    );
  });
});

describe('arithmetic', () => {
  test('the sum and product are exact where doubles are not', () => {
    expect(formatDecimal(addDecimals(read('0.1'), read('0.2')))).toBe('0.3');
    expect(formatDecimal(multiplyDecimals(read('1.1'), read('1.1')))).toBe('1.21');
  });

  test('a product distributes over a sum', () => {
    fc.assert(
      fc.property(decimals, decimals, decimals, (a, b, c) => {
        const left = multiplyDecimals(a, addDecimals(b, c));
        const right = addDecimals(multiplyDecimals(a, b), multiplyDecimals(a, c));
        expect(left).toEqual(right);
      }),
    );
  });
});

describe('rounding', () => {
  test.each([
    ['0.0000004', 0n],
    ['0.0000005', 1n],
    ['0.00000049999999999999999999', 0n],
    ['0.0000015', 2n],
    ['0.0000025', 3n],
    ['1', 1_000_000n],
    ['1e-400', 0n],
  ])('%s is %d millionths, halves upwards', (text, micros) => {
    expect(roundHalfUpToMicros(read(text))).toBe(micros);
  });

  test('it is off by at most half a millionth, and by exactly half only upwards', () => {
    fc.assert(
      fc.property(naturals, (decimal) => {
        const rounded = decimalOfMicros(roundHalfUpToMicros(decimal));
        const half = decimalOf(5n, 7);
        expect(compareDecimals(rounded, addDecimals(decimal, half))).not.toBe(1);
        expect(compareDecimals(addDecimals(rounded, half), decimal)).toBe(1);
      }),
    );
  });

  test('negative values are not rounded', () => {
    expect(() => roundHalfUpToMicros(read('-1'))).toThrow('not negative');
  });
});
