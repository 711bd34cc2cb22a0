import type { FormField } from './form-model.ts';
import { normaliseLabel } from './label.ts';

type Part = 'day' | 'month' | 'year';

const languages = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'sv', 'da'] as const;

/** By the normalised name or abbreviation of a month, in ten languages: its number. */
const monthByName = new Map<string, number>();
for (const language of languages) {
  for (let month = 1; month <= 12; month += 1) {
    const date = new Date(Date.UTC(2024, month - 1, 15));
    for (const style of ['long', 'short'] as const) {
      const alone = new Intl.DateTimeFormat(language, { month: style, timeZone: 'UTC' });
      const inDate = new Intl.DateTimeFormat(language, {
        day: 'numeric',
        month: style,
        timeZone: 'UTC',
      });
      const part = inDate.formatToParts(date).find(({ type }) => type === 'month')?.value ?? '';
      for (const name of [alone.format(date), part]) monthByName.set(normaliseLabel(name), month);
    }
  }
}

/** The number of a part of a date, which is `YYYY-MM-DD`. */
function numberOf(date: string, part: Part): number {
  const [year, month, day] = date.split('-').map(Number);
  return { year, month, day }[part] ?? Number.NaN;
}

/** The text of a part of a date for a text field: two digits, or four for the year. */
export function datePartText(date: string, part: Part): string {
  return String(numberOf(date, part)).padStart(part === 'year' ? 4 : 2, '0');
}

/**
 * The only option that means this part of the date: by its number, or by the name of its month in
 * ten languages. Undefined without exactly one option.
 */
export function datePartOption(
  { options = [] }: Pick<FormField, 'options'>,
  date: string,
  part: Part,
): string | undefined {
  const wanted = numberOf(date, part);
  const meaning = (option: string): number | undefined => {
    const text = normaliseLabel(option);
    if (/^\d{1,4}$/.test(text)) return Number(text);
    if (part !== 'month') return undefined;
    const [, number] = /^(\d{1,2}) \p{L}+$/u.exec(text) ?? [];
    return number === undefined ? monthByName.get(text) : Number(number);
  };
  const [only, ...others] = options.filter((option) => meaning(option) === wanted);
  return others.length === 0 ? only : undefined;
}
