import { assertInvariant } from './assert.ts';
import { decimalOfMicros, formatDecimal, parseDecimal } from './decimal.ts';

/**
 * Money: integers of 10⁻⁶ credit in a bigint, decimals at the edge, never a binary float in
 * between (CONTRACT 4).
 */

export const microsPerCredit = 1_000_000n;

/**
 * The most that any amount may be: fifteen digits in all, so that the nearest binary float of a
 * formatted amount prints as exactly that amount on the wire.
 */
export const creditsMicrosMax = 10n ** 15n - 1n;

/** Whether an amount of micro-credits, either sign, has an exact form on the wire. */
export function fitsCredits(micros: bigint): boolean {
  return micros >= -creditsMicrosMax && micros <= creditsMicrosMax;
}

/**
 * Micro-credits of a text by the grammar of a JSON number. Undefined where it is not one, is
 * negative, has more than six decimals (by value: `1.0000000` is fine) or is over
 * `creditsMicrosMax`.
 */
export function parseCreditsExact(text: string): bigint | undefined {
  const decimal = parseDecimal(text);
  if (decimal === undefined || decimal.digits < 0n || decimal.scale > 6) return undefined;
  const micros = decimal.digits * 10n ** BigInt(6 - decimal.scale);
  return micros > creditsMicrosMax ? undefined : micros;
}

/** Credits in plain notation with as many decimals as needed, six at most: `"-0.25"`, `"200"`. */
export function formatCredits(micros: bigint): string {
  return formatDecimal(decimalOfMicros(micros));
}

/**
 * Credits as the JSON number of the wire. It exists for `JSON.stringify` alone, which prints
 * exactly the text of `formatCredits`; nothing is ever computed with it.
 */
export function creditsToNumber(micros: bigint): number {
  assertInvariant(fitsCredits(micros), 'an amount beyond creditsMicrosMax has no exact number');
  return Number(formatCredits(micros));
}
