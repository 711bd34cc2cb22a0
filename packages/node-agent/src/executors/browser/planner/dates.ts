import { languages } from './countries.ts';
import type { DateUnit, FormField } from './form-model.ts';
import { normaliseLabel } from './label.ts';

/** Writes a date `YYYY-MM-DD` in a format such as `dd.mm.yyyy` or `m/d/yy`. */
export function dateText(date: string, format: string | undefined): string {
  if (format === undefined) return date;
  const [year = '', month = '', day = ''] = date.split('-');
  return format.replaceAll(/d+|m+|y+/gu, (token) => {
    const whole = token.startsWith('y') ? year : token.startsWith('m') ? month : day;
    if (token.startsWith('y')) return token.length <= 2 ? whole.slice(-2) : whole;
    return token.length === 1 ? String(Number(whole)) : whole;
  });
}

/** The text of a part of a date for a text field: two digits, or four for the year. */
export function datePartText(date: string, part: DateUnit): string {
  return String(numberOf(date, part)).padStart(part === 'year' ? 4 : 2, '0');
}

/**
 * The only option that means this part of the date: by its number, by the name of its month in ten
 * languages, or by both, as in "02 - Feb". Undefined without exactly one option.
 */
export function datePartOption(
  { options = [] }: Pick<FormField, 'options'>,
  date: string,
  part: DateUnit,
): string | undefined {
  const wanted = numberOf(date, part);
  const [only, ...others] = options.filter((option) => {
    const tokens = normaliseLabel(option).split(' ');
    return tokens.every((token) => meaningOf(token, part) === wanted);
  });
  return others.length === 0 ? only : undefined;
}

/** The number of a part of a date, which is `YYYY-MM-DD`. */
function numberOf(date: string, part: DateUnit): number {
  const [year, month, day] = date.split('-').map(Number);
  return { year, month, day }[part] ?? Number.NaN;
}

function meaningOf(token: string, part: DateUnit): number | undefined {
  if (/^\d{1,4}$/u.test(token)) return Number(token);
  return part === 'month' ? monthsByName().get(token) : undefined;
}

let byName: ReadonlyMap<string, number> | undefined;

/** The months by their names and short names in the ten languages. */
function monthsByName(): ReadonlyMap<string, number> {
  if (byName !== undefined) return byName;
  const found = new Map<string, number>();
  for (const language of languages) {
    for (const style of ['long', 'short'] as const) {
      const inDate = new Intl.DateTimeFormat(language, {
        month: style,
        day: 'numeric',
        timeZone: 'UTC',
      });
      const alone = new Intl.DateTimeFormat(language, { month: style, timeZone: 'UTC' });
      for (let month = 1; month <= 12; month += 1) {
        const date = Date.UTC(2026, month - 1, 1);
        const parts = [...inDate.formatToParts(date), ...alone.formatToParts(date)];
        for (const { type, value } of parts) {
          if (type === 'month') found.set(normaliseLabel(value), month);
        }
      }
    }
  }
  byName = found;
  return byName;
}
