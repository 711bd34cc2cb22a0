import { assertInvariant } from './assert.ts';

/**
 * The exact decimal `digits / 10^scale`. The scale is the smallest possible one and never negative,
 * so equal values have equal fields.
 */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/**
 * The most digits of a number that `parseDecimal` accepts. Zeros at either end do not count. The
 * limit exists because very long numbers would cost time and have no use.
 */
export const decimalDigitsMax = 400;
/**
 * The largest exponent, positive or negative, that `parseDecimal` accepts for a number (except
 * zero). `1.50e3` counts as `15e2`, so its exponent is 2.
 */
export const decimalExponentMax = 400;
/**
 * The longest text that `parseDecimal` accepts. `formatDecimal` never writes a longer text for a
 * number that `parseDecimal` accepts.
 */
export const decimalTextLengthMax = 1000;

const jsonNumber = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

export const decimalZero: Decimal = { digits: 0n, scale: 0 };

function normalise(digits: bigint, scale: number): Decimal {
  if (digits === 0n) return decimalZero;
  let restDigits = digits;
  let restScale = scale;
  while (restScale > 0 && restDigits % 10n === 0n) {
    restDigits /= 10n;
    restScale -= 1;
  }
  return { digits: restDigits, scale: restScale };
}

/**
 * Parses a JSON number exactly, and accepts every number that `JSON.stringify` writes. Undefined
 * for other text and beyond the limits `decimal…Max`.
 */
export function parseDecimal(text: string): Decimal | undefined {
  if (text.length > decimalTextLengthMax) return undefined;
  const match = jsonNumber.exec(text);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = match;
  const significant = (whole + fraction).replace(/^0+/, '');
  const digitsText = significant.replace(/0+$/, '');
  if (digitsText === '') return decimalZero;
  // Without its sign, the number is `digitsText` times 10 to the power of `exponent`.
  const exponent = Number(exponentText) - fraction.length + significant.length - digitsText.length;
  if (digitsText.length > decimalDigitsMax) return undefined;
  if (Math.abs(exponent) > decimalExponentMax) return undefined;
  const magnitude = BigInt(digitsText) * 10n ** BigInt(Math.max(exponent, 0));
  return { digits: sign === '-' ? -magnitude : magnitude, scale: Math.max(-exponent, 0) };
}

/**
 * Writes a decimal without an exponent. If the value is within the limits of `parseDecimal`,
 * `parseDecimal` reads the same value from the result.
 */
export function formatDecimal(decimal: Decimal): string {
  const sign = decimal.digits < 0n ? '-' : '';
  const magnitude = decimal.digits < 0n ? -decimal.digits : decimal.digits;
  const text = magnitude.toString().padStart(decimal.scale + 1, '0');
  if (decimal.scale === 0) return sign + text;
  return `${sign}${text.slice(0, -decimal.scale)}.${text.slice(-decimal.scale)}`;
}

function digitsAt(decimal: Decimal, scale: number): bigint {
  return decimal.digits * 10n ** BigInt(scale - decimal.scale);
}

export function compareDecimals(a: Decimal, b: Decimal): -1 | 0 | 1 {
  const scale = Math.max(a.scale, b.scale);
  const left = digitsAt(a, scale);
  const right = digitsAt(b, scale);
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return normalise(digitsAt(a, scale) + digitsAt(b, scale), scale);
}

export function multiplyDecimals(a: Decimal, b: Decimal): Decimal {
  return normalise(a.digits * b.digits, a.scale + b.scale);
}

/** Throws InvariantError if the scale is negative or not whole. */
export function decimalOf(digits: bigint, scale: number): Decimal {
  assertInvariant(
    Number.isInteger(scale) && scale >= 0,
    'the scale of a decimal is a whole number that is not negative',
  );
  return normalise(digits, scale);
}

export function decimalOfMicros(micros: bigint): Decimal {
  return normalise(micros, 6);
}

/** Throws InvariantError if the decimal is negative. */
export function roundHalfUpToMicros(decimal: Decimal): bigint {
  assertInvariant(decimal.digits >= 0n, 'a decimal that is rounded to micros is not negative');
  if (decimal.scale <= 6) return digitsAt(decimal, 6);
  const divisor = 10n ** BigInt(decimal.scale - 6);
  return (decimal.digits * 2n + divisor) / (divisor * 2n);
}
