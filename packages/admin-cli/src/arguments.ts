import { fromWireId, type IdPrefix, parseCreditsExact } from '@svc/domain';
import { databaseNow, type Store } from '@svc/store';
import { InvalidArgumentError } from 'commander';

/** Parsers of arguments: what they throw is wrong usage (exit code 2). */

/** The UUID of an id as the wire shows it. */
export function idArgument(prefix: IdPrefix): (text: string) => string {
  return (text) => {
    const id = fromWireId(prefix, text);
    if (id === undefined) throw new InvalidArgumentError(`It must be an id like ${prefix}_….`);
    return id;
  };
}

/** Micro-credits of an amount in credits. */
export function creditsArgument(text: string): bigint {
  const micros = parseCreditsExact(text);
  if (micros === undefined) {
    throw new InvalidArgumentError(
      'It must be a number from 0 to below 10^9 with at most six decimals.',
    );
  }
  return micros;
}

const nameLengthMax = 128;

/** A name for people, 1 to 128 characters. */
export function nameArgument(text: string): string {
  const length = Array.from(text).length;
  if (length < 1 || length > nameLengthMax || text.trim() === '') {
    throw new InvalidArgumentError(`It must have 1 to ${nameLengthMax} characters.`);
  }
  return text;
}

/** For an option that may be given several times. */
export function collect(text: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), text];
}

/** A whole number of these bounds. */
export function integerArgument(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d{1,15}$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const durationMsMax = 90 * 86_400_000;

/** Milliseconds of a text such as 90s, 30m, 24h or 7d; 0 is none. */
export function durationArgument(text: string): number {
  const durationMs = parseDuration(text);
  if (durationMs === undefined || durationMs > durationMsMax) {
    throw new InvalidArgumentError('It must be like 90s, 30m, 24h or 7d, and 90d at most.');
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

/** A moment, or so many milliseconds before the database's present time. */
export type AskedTime = Date | { readonly agoMs: number };

/** A moment: RFC 3339, a date (UTC), or so long ago (30m, 24h, 7d). */
export function timeArgument(text: string): AskedTime {
  const agoMs = parseDuration(text);
  if (agoMs !== undefined) return { agoMs };
  const at = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(at.getTime())) {
    throw new InvalidArgumentError(
      'It must be a time like 2026-11-21T09:30:00Z, a date, or so long ago: 30m, 24h, 7d.',
    );
  }
  return at;
}

/** By the database's clock: what is stored has its times, and the clock of this machine may be off. */
export async function timeOf(store: Store, asked: AskedTime): Promise<Date> {
  if (asked instanceof Date) return asked;
  return new Date((await databaseNow(store)).getTime() - asked.agoMs);
}

/** Millionths of a percentage from 0 to 100 with at most four decimals. */
export function percentArgument(text: string): number {
  if (!/^\d{1,3}(\.\d{1,4})?$/.test(text) || Number(text) > 100) {
    throw new InvalidArgumentError('It must be a percentage from 0 to 100, four decimals at most.');
  }
  return Math.round(Number(text) * 10_000);
}

const listLimitMax = 1_000;
export const listLimitDefault = 50;

/** How many a list shows. */
export const limitArgument = integerArgument(1, listLimitMax);
