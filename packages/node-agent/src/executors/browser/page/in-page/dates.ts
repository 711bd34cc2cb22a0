/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { DateUnit, FormField } from '../../planner/form-model.ts';
import type * as dropdown from './dropdown.ts';
import type * as labels from './labels.ts';
import type * as visibility from './visibility.ts';

declare const allBelow: typeof visibility.allBelow;
declare const isVisible: typeof visibility.isVisible;
declare const labelsFor: typeof labels.labelsFor;
declare const legendOf: typeof labels.legendOf;
declare const plainText: typeof dropdown.plainText;
declare const namedBy: typeof labels.namedBy;
declare const textOfElements: typeof labels.textOfElements;

/**
 * The format that a text describes, such as `dd.mm.yyyy` for "TT.MM.JJJJ" or "31.12.2026".
 * Undefined if the text describes none, or if it may be two.
 */
export function formatIn(text: string): string | undefined {
  const found =
    /(?<![\p{L}\d])([\p{L}]{1,4}|\d{1,4})( ?[/.-] ?)([\p{L}]{1,2}|\d{1,2})\2([\p{L}]{1,4}|\d{1,4})(?![\p{L}\d])/u.exec(
      text
        .normalize('NFC')
        .toLowerCase()
        .replaceAll(/\b(?:e\. ?g|z\. ?b|p\. ?ex)\./gu, ' '),
    );
  const [, first = '', separator = '', second = '', third = ''] = found ?? [];
  const tokens = [first, second, third];
  if (found === null || tokens.some((token) => !/^(.)\1*$|^\d+$/u.test(token))) return undefined;
  if (tokens.every((token) => /^\d+$/u.test(token))) return formatOfSample(tokens, separator);
  const month = tokens.findIndex((token) => /^m+$/u.test(token));
  // "J" is the year in German and Dutch, but the day in French. "D" is the day, or absent.
  const years = tokens.filter(isYearToken);
  const year =
    years.length === 1
      ? tokens.findIndex(isYearToken)
      : tokens.findIndex((token) => token === 'jj' && tokens.some((one) => /^[td]+$/u.test(one)));
  const day = [0, 1, 2].find((place) => place !== month && place !== year);
  if (month < 0 || year < 0 || day === undefined || month === year) return undefined;
  if (!/^[dtgj]{1,2}$/u.test(tokens[day] ?? '')) return undefined;
  return tokens
    .map((token, place) =>
      (place === month ? 'm' : place === year ? 'y' : 'd').repeat(token.length),
    )
    .join(separator);
}

export function isYearToken(token: string): boolean {
  return token.length === 4 || (/^[yarå]+$/u.test(token) && token.length === 2);
}

/** The format of a date that stands as an example. */
export function formatOfSample(tokens: readonly string[], separator: string): string | undefined {
  const sizes = tokens.map((token) => token.length);
  const [one = 0, two = 0] = tokens.map(Number);
  const letters = (names: string): string =>
    names
      .split('')
      .map((name, place) => name.repeat(sizes[place] ?? 2))
      .join(separator);
  if (sizes[0] === 4) return letters('ymd');
  if (sizes[2] !== 4) return undefined;
  if (one > 12 && two <= 12) return letters('dmy');
  if (two > 12 && one <= 12) return letters('mdy');
  return separator.trim() === '.' ? letters('dmy') : undefined;
}

/** The format that the `pattern` of an input demands, with the usage of the page's language. */
export function formatOfPattern(pattern: string): string | undefined {
  const digits = pattern.replaceAll('[0-9]', '\\d').replaceAll(/\\d\\d(?!\d|\{)/gu, '\\d{2}');
  const found =
    /^\^?\(?\\d\{(?:1,)?([24])\}\)?(\\?[./-])\(?\\d\{(?:1,)?2\}\)?\2\(?\\d\{(?:1,)?([24])\}\)?\$?$/u.exec(
      digits,
    );
  if (found === null) return undefined;
  const separator = (found[2] ?? '').replace('\\', '');
  if (found[1] === '4') return `yyyy${separator}mm${separator}dd`;
  if (found[3] !== '4') return undefined;
  const language = document.documentElement.lang.toLowerCase();
  const dayFirst = `dd${separator}mm${separator}yyyy`;
  if (separator === '.') return dayFirst;
  if (language === 'en-us') return `mm${separator}dd${separator}yyyy`;
  return language === '' || language === 'en' ? undefined : dayFirst;
}

/**
 * The date format of a text input, such as `dd.mm.yyyy`. Undefined if no format is found, and
 * always for the type `date`, whose value is always `yyyy-mm-dd`.
 */
export function dateFormatOf(control: HTMLElement): string | undefined {
  if (control.matches('[type="date"]')) return undefined;
  const isText = control instanceof HTMLInputElement && /^(?:text|tel|)$/u.test(control.type);
  if (!isText) return undefined;
  const texts = [
    control.getAttribute('placeholder') ?? '',
    control.getAttribute('data-date-format') ?? control.getAttribute('data-format') ?? '',
    textOfElements(namedBy(control, 'aria-describedby')),
    control.getAttribute('title') ?? '',
    ...labelsFor(control).map(plainText),
  ];
  for (const text of texts) {
    const format = text.length <= 200 ? formatIn(text) : undefined;
    if (format !== undefined) return format;
  }
  const isPicker = control.closest('.react-datepicker__input-container') !== null;
  return isPicker ? 'mm/dd/yyyy' : formatOfPattern(control.pattern);
}

/** The part of a date that a control asks for by its own name. */
export function dateUnitOf(control: HTMLElement): DateUnit | undefined {
  const first = control instanceof HTMLSelectElement ? (control.options[0]?.label ?? '') : '';
  const texts = [
    control.getAttribute('aria-label') ?? '',
    ...labelsFor(control).map(plainText),
    textOfElements(namedBy(control, 'aria-labelledby')),
    control.getAttribute('placeholder') ?? '',
    first,
    control.getAttribute('title') ?? '',
  ];
  const units = {
    day: /^(?:day|date|tag|jour|d[ií]a|giorno|dag|dzień|dd|tt|jj|gg)$/u,
    month: /^(?:month|monat|mois|mes|mês|mese|maand|miesiąc|månad|måned|mm)$/u,
    year: /^(?:year|jahr|année|an|año|ano|anno|jaar|rok|år|yyyy|jjjj|aaaa|rrrr|åååå)$/u,
  } as const;
  for (const text of texts) {
    const plain = text
      .normalize('NFC')
      .toLowerCase()
      .replaceAll(/[^\p{L}]+/gu, ' ')
      .trim();
    const unit = (['day', 'month', 'year'] as const).find((one) => units[one].test(plain));
    if (unit !== undefined) return unit;
  }
  return undefined;
}

/** The question of two or three controls that together ask for one date, and the control's part. */
export function datePartOf(control: HTMLElement): FormField['datePart'] {
  const part = dateUnitOf(control);
  if (part === undefined) return undefined;
  let at = control.parentElement;
  for (let level = 0; at !== null && level < 5; level += 1, at = at.parentElement) {
    if (at.matches('form, body')) return undefined;
    const all = allBelow(at, 'input:not([type="hidden"]), select').filter(isVisible);
    if (all.length < 2) continue;
    const units = all.map(dateUnitOf);
    if (all.length > 3 || new Set(units).size < all.length) return undefined;
    if (units.includes(undefined) || !units.includes('year')) return undefined;
    const question = legendOf(all) || textBefore(at, all[0]);
    if (question !== '') return { part, question };
  }
  return undefined;
}

/** The text of a box before its first control, without the label of this control. */
export function textBefore(box: Element, first: HTMLElement | undefined): string {
  if (first === undefined) return '';
  const own = labelsFor(first);
  for (let at: Element = first; at !== box && at.parentElement !== null; at = at.parentElement) {
    for (let before = at.previousElementSibling; before !== null;) {
      const text = own.some((label) => before?.contains(label)) ? '' : plainText(before);
      if (text !== '') return text;
      before = before.previousElementSibling;
    }
  }
  return '';
}
