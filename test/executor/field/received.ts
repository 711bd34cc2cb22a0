import type { FixtureRequest } from '../employers/server/listen.ts';
import { parseMultipart } from '../employers/server/multipart.ts';

/** The value that must arrive under one name of a submission. */
export type Wanted =
  | string
  | readonly string[]
  | { readonly file: string }
  /** Compared by the digits alone, as for a telephone number. */
  | { readonly digits: string }
  /** Compared line by line, without blank lines. */
  | { readonly lines: readonly string[] }
  | { readonly oneOf: readonly string[] };

/** The values of a submission by name. A file counts by its name. */
export type Values = ReadonlyMap<string, readonly string[]>;

function add(values: Map<string, string[]>, name: string, value: string): void {
  values.set(name, [...(values.get(name) ?? []), value]);
}

/** Adds the texts of a JSON document. An object in an object adds its members under their names. */
function addJson(values: Map<string, string[]>, name: string, value: unknown): void {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) addJson(values, name || String(index), one);
  } else if (typeof value === 'object' && value !== null) {
    for (const [member, one] of Object.entries(value)) addJson(values, member, one);
  } else if (typeof value === 'string') add(values, name, value);
  else if (value !== null && value !== undefined) add(values, name, JSON.stringify(value));
}

export function valuesOf({ body, headers }: FixtureRequest): Values {
  const values = new Map<string, string[]>();
  const type = headers['content-type'] ?? '';
  const text = body.toString('utf8');
  if (type.startsWith('multipart/form-data')) {
    const { fields, files } = parseMultipart(body, type);
    for (const [name, all] of Object.entries(fields)) for (const one of all) add(values, name, one);
    for (const { field, name } of files) add(values, field, name);
  } else if (type.startsWith('application/x-www-form-urlencoded')) {
    for (const [name, value] of new URLSearchParams(text)) add(values, name, value);
  } else if (text !== '') addJson(values, '', JSON.parse(text));
  return values;
}

function isOne(wanted: Exclude<Wanted, readonly string[]>, value: string): boolean {
  if (typeof wanted === 'string') return value === wanted;
  // A script reads the name of a file as `C:\fakepath\NAME`.
  if ('file' in wanted) return value.split('\\').at(-1) === wanted.file;
  if ('digits' in wanted) return value.replaceAll(/\D/gu, '') === wanted.digits;
  if ('oneOf' in wanted) return wanted.oneOf.includes(value);
  const lines = value.split(/\r?\n/u).filter((line) => line.trim() !== '');
  return JSON.stringify(lines) === JSON.stringify(wanted.lines);
}

function isAsWanted(wanted: Wanted, values: readonly string[]): boolean {
  const all = values.filter((value) => value !== '');
  if (wanted === '') return all.length === 0;
  if (typeof wanted !== 'string' && !('length' in wanted)) {
    return all.length === 1 && isOne(wanted, all[0] ?? '');
  }
  const wantedAll = typeof wanted === 'string' ? [wanted] : wanted;
  return JSON.stringify(all.toSorted()) === JSON.stringify(wantedAll.toSorted());
}

/**
 * The values of a submission that are missing or wrong. A value under a name that the case does not
 * list is wrong, too: the profile does not answer it.
 */
export function faultsOfValues(
  wanted: Readonly<Record<string, Wanted>>,
  values: Values,
): { readonly missing: string[]; readonly invented: string[] } {
  const describe = (name: string): string => `${name}: ${JSON.stringify(values.get(name) ?? [])}`;
  const wrong = Object.keys(wanted).filter(
    (name) => !isAsWanted(wanted[name] ?? '', values.get(name) ?? []),
  );
  const unlisted = [...values.keys()].filter(
    (name) => !(name in wanted) && !isAsWanted('', values.get(name) ?? []),
  );
  const isEmpty = (name: string): boolean => isAsWanted('', values.get(name) ?? []);
  return {
    missing: wrong.filter(isEmpty).map(describe),
    invented: [...wrong.filter((name) => !isEmpty(name)), ...unlisted].map(describe),
  };
}
