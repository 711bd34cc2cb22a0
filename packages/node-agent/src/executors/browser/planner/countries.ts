import { normaliseLabel } from './label.ts';

/** The ten languages of postings (CONTRACT 10). */
export const languages = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'sv', 'da'] as const;

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('');

/** Names that the browser's own tables do not have. */
const otherNames: readonly (readonly [string, string])[] = [
  ['USA', 'US'],
  ['United States of America', 'US'],
  ['Great Britain', 'GB'],
  ['Czech Republic', 'CZ'],
  ['Republic of Ireland', 'IE'],
  ['The Netherlands', 'NL'],
  ['Turkey', 'TR'],
];

let byName: ReadonlyMap<string, string> | undefined;

/** The ISO codes by the normalised names of all countries. A name of two countries is left out. */
function codesByName(): ReadonlyMap<string, string> {
  if (byName !== undefined) return byName;
  const names = new Map<string, Set<string>>();
  const add = (name: string, code: string): void => {
    const key = normaliseLabel(name);
    names.set(key, (names.get(key) ?? new Set()).add(code));
  };
  const tables = languages.flatMap((language) =>
    (['long', 'short'] as const).map(
      (style) => new Intl.DisplayNames([language], { type: 'region', style, fallback: 'none' }),
    ),
  );
  for (const code of letters.flatMap((first) => letters.map((second) => first + second))) {
    if (/^(?:Q[M-Z]|X[A-Z]|ZZ|EU|EZ|UN|AA)$/u.test(code) && code !== 'XK') continue;
    const canonical = new Intl.Locale(`und-${code}`).region ?? code;
    const present = Intl.getCanonicalLocales(`und-${canonical}`)[0]?.slice(4) ?? canonical;
    for (const table of tables) {
      const name = table.of(code);
      if (name === undefined) continue;
      add(name, present);
      add(code, present);
    }
  }
  for (const [name, code] of otherNames) add(name, code);
  byName = new Map(
    [...names].flatMap(([name, codes]) => {
      const [code, ...others] = codes;
      return code === undefined || others.length > 0 ? [] : [[name, code] as const];
    }),
  );
  return byName;
}

/** The ISO code of a country from its name in one of `languages`, or from the code itself. */
export function countryOf(text: string): string | undefined {
  return codesByName().get(normaliseLabel(text));
}

/**
 * The country that an option names, with or without a dial code or its ISO code in brackets.
 * Undefined if it names none, or two.
 */
export function countryOfOption(option: string): string | undefined {
  const withoutDialCode = option.replaceAll(/\(?\+[\d\s-]+\)?/gu, ' ');
  const whole = countryOf(withoutDialCode);
  if (whole !== undefined) return whole;
  const parts = withoutDialCode
    .split(/[()[\]]| [-–—|] /u)
    .filter((one) => normaliseLabel(one) !== '');
  const codes = new Set(parts.map(countryOf));
  const [code] = codes;
  return codes.size === 1 ? code : undefined;
}

/** The ISO code of a country, and its names in `languages`. Empty if the text names no country. */
export function codeAndNamesOf(text: string): string[] {
  const code = countryOf(text);
  if (code === undefined) return [];
  const names = languages.map((language) =>
    new Intl.DisplayNames([language], { type: 'region', fallback: 'none' }).of(code),
  );
  return [code, ...names.filter((name) => name !== undefined)];
}
