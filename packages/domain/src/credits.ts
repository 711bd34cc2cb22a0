import { assertInvariant } from './assert.ts';
import { decimalOfMicros, formatDecimal, parseDecimal } from './decimal.ts';

/**
 * Inside the service an amount is a bigint of micro-credits (10⁻⁶ credit). On the wire it is a
 * decimal number of credits (CONTRACT 4).
 */

export const microsPerCredit = 1_000_000n;

/**
 * The largest amount, in micro-credits. It has fifteen digits, and a double keeps fifteen digits
 * exactly.
 */
export const creditsMicrosMax = 10n ** 15n - 1n;

/**
 * True if an amount of micro-credits, positive or negative, is not beyond `creditsMicrosMax`. Such
 * an amount has an exact form on the wire.
 */
export function fitsCredits(micros: bigint): boolean {
  return micros >= -creditsMicrosMax && micros <= creditsMicrosMax;
}

/**
 * Converts credits, written as a JSON number, to whole micros from 0 to `creditsMicrosMax`.
 * Undefined for any other amount, or if `parseDecimal` refuses the text.
 */
export function parseCreditsExact(text: string): bigint | undefined {
  const decimal = parseDecimal(text);
  if (decimal === undefined || decimal.digits < 0n || decimal.scale > 6) return undefined;
  const micros = decimal.digits * 10n ** BigInt(6 - decimal.scale);
  return micros > creditsMicrosMax ? undefined : micros;
}

/** Credits in plain notation with the decimals that they need, at most six: `"-0.25"`, `"200"`. */
export function formatCredits(micros: bigint): string {
  return formatDecimal(decimalOfMicros(micros));
}

/**
 * Credits as the JSON number of the wire. Do not calculate with it. Throws InvariantError beyond
 * `creditsMicrosMax`.
 */
export function creditsToNumber(micros: bigint): number {
  assertInvariant(
    fitsCredits(micros),
    'an amount on the wire is from -creditsMicrosMax to creditsMicrosMax micros',
  );
  return Number(formatCredits(micros));
}
