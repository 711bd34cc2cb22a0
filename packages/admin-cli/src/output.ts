import { styleText } from 'node:util';
import type { CommandOptions } from './command.ts';
import { plainText, tableLines, textWidth } from './table.ts';

export type OutputOptions = CommandOptions;

export type Row = Readonly<Record<string, unknown>>;

export function printRecord(record: Row, options: OutputOptions): void {
  if (options.json === true) return printJson(record);
  // The names of fields are untrusted too: a node chooses the names in `result.details`.
  const fields = flatten(record).map(([name, value]) => [plainText(name), value] as const);
  const width = Math.max(...fields.map(([name]) => textWidth(name)));
  for (const [name, value] of fields)
    print(`${bold(name.padEnd(width))}  ${plainText(cell(value))}`);
}

export function printList(
  rows: readonly Row[],
  columns: readonly string[],
  options: OutputOptions,
): void {
  if (options.json === true) return printJson(rows);
  const cells = rows.map((row) => columns.map((column) => cell(row[column])));
  printTable(columns, cells);
}

export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const [first = '', ...lines] = tableLines(head, rows, terminalWidth());
  print(bold(first));
  for (const line of lines) print(line);
}

export function printJson(value: unknown): void {
  print(jsonText(value, 2));
}

/** JSON in which every character that could control a terminal is escaped. */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return text.replaceAll(/[\u007F-\u009F\p{Bidi_Control}\u2028\u2029]/gu, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The width of the terminal, in columns. Undefined if stdout is not a terminal. */
export function terminalWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined;
}

/**
 * If FORCE_COLOR is set, it decides whether styles apply. Otherwise styles apply only if stdout is
 * a terminal with colours and NO_COLOR is not set.
 */
export const bold = (text: string): string => styleText('bold', text, { stream: process.stdout });
export const dim = (text: string): string => styleText('dim', text, { stream: process.stdout });
export const red = (text: string): string => styleText('red', text, { stream: process.stdout });
export const yellow = (text: string): string =>
  styleText('yellow', text, { stream: process.stdout });
export const green = (text: string): string => styleText('green', text, { stream: process.stdout });

function flatten(record: Row, before = ''): [string, unknown][] {
  return Object.entries(record).flatMap(([name, value]): [string, unknown][] =>
    isPlainObject(value) && Object.keys(value).length > 0
      ? flatten(value, `${before}${name}.`)
      : [[`${before}${name}`, value]],
  );
}

function isPlainObject(value: unknown): value is Row {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  );
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(cell).join(', ');
  return JSON.stringify(value);
}
