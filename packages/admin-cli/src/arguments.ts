import { fromWireId, type IdPrefix, isExactTime, parseCreditsExact } from '@svc/domain';
import { databaseNow, type Store } from '@svc/store';
import { InvalidArgumentError } from 'commander';

/**
 * Parsers of command-line arguments. For an invalid text they throw `InvalidArgumentError`, which
 * is wrong usage (exit code 2).
 */

/** Makes a parser of an id in its wire form, such as `tnt_…`. The parser returns the UUID. */
export function idArgument(prefix: IdPrefix): (text: string) => string {
  return (text) => {
    const id = fromWireId(prefix, text);
    if (id === undefined) throw new InvalidArgumentError(`It must be an id like ${prefix}_….`);
    return id;
  };
}

/** Parses a decimal number, such as an amount in credits or USD, into millionths. */
export function creditsArgument(text: string): bigint {
  const micros = parseCreditsExact(text);
  if (micros === undefined) {
    throw new InvalidArgumentError(
      'It must be a number from 0 to 999999999.999999, with at most six decimals.',
    );
  }
  return micros;
}

const nameLengthMax = 128;

export function nameArgument(text: string): string {
  const length = Array.from(text).length;
  if (length < 1 || length > nameLengthMax || text.trim() === '') {
    throw new InvalidArgumentError(
      `It must have 1 to ${nameLengthMax} characters, and not only spaces.`,
    );
  }
  return text;
}

export function collect(text: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), text];
}

export function integerArgument(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d{1,15}$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

/** Returns a parser of a limit. The parser returns null for `none`, which means no limit. */
export function limitOrNone(max: number): (text: string) => number | null {
  const read = integerArgument(1, max);
  return (text) => (text === 'none' ? null : read(text));
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const durationMsMax = 90 * 86_400_000;
const agoMsMax = 36_525 * 86_400_000;

/**
 * Parses a duration of at most 90 days, such as 90s, 30m, 24h or 7d, into milliseconds. The unit is
 * required, except in `0`.
 */
export function durationArgument(text: string): number {
  const durationMs = parseDuration(text);
  if (durationMs === undefined || durationMs > durationMsMax) {
    throw new InvalidArgumentError('It must be a duration like 90s, 30m, 24h or 7d, up to 90d.');
  }
  return durationMs;
}

function parseDuration(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? [];
  const factor = unitMs[unit];
  if (digits === undefined) return undefined;
  if (factor === undefined) return digits === '0' ? 0 : undefined;
  return Number(digits) * factor;
}

/**
 * The time that the operator asks for: an exact time, or how many milliseconds before the current
 * time of the database.
 */
export type AskedTime = Date | { readonly agoMs: number };

/**
 * Parses an exact time (`isExactTime`), a date (00:00 UTC), or a duration before now, such as
 * `24h`. A time may omit the seconds.
 */
export function timeArgument(text: string): AskedTime {
  const agoMs = parseDuration(text);
  if (agoMs !== undefined && agoMs <= agoMsMax) return { agoMs };
  const midnight = text.length === '2026-11-21'.length ? `${text}T00:00:00Z` : text;
  const withSeconds = midnight.replace(/(T\d\d:\d\d)(Z|[+-]\d\d:\d\d)$/, '$1:00$2');
  if (!isExactTime(withSeconds)) {
    throw new InvalidArgumentError(
      'It must be a time like 2026-11-21T09:30:00Z, a date, or a duration before now: 30m, 24h, 7d.',
    );
  }
  return new Date(withSeconds);
}

/**
 * Returns the time that the operator asked for. A duration counts back from the database's clock,
 * because the stored times come from that clock.
 */
export async function timeOf(store: Store, asked: AskedTime): Promise<Date> {
  if (asked instanceof Date) return asked;
  return new Date((await databaseNow(store)).getTime() - asked.agoMs);
}

/**
 * Parses a percentage from 0 to 100, with at most four decimals. Returns millionths of the whole:
 * 2.5 % gives 25000.
 */
export function percentArgument(text: string): number {
  if (!/^\d{1,3}(\.\d{1,4})?$/.test(text) || Number(text) > 100) {
    throw new InvalidArgumentError(
      'It must be a percentage from 0 to 100 with at most four decimals.',
    );
  }
  return Math.round(Number(text) * 10_000);
}

const listLimitMax = 1_000;
export const listLimitDefault = 50;

export const limitArgument = integerArgument(1, listLimitMax);
