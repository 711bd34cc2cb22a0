export interface OutputOptions {
  readonly json?: boolean;
}

export type Row = Readonly<Record<string, unknown>>;

/** One record: JSON for programs, a line a field for people. */
export function printRecord(record: Row, options: OutputOptions): void {
  if (options.json === true) return printJson(record);
  const width = Math.max(...Object.keys(record).map((key) => key.length));
  for (const [key, value] of Object.entries(record)) {
    process.stdout.write(`${key.padEnd(width)}  ${cell(value)}\n`);
  }
}

/** A list: JSON for programs, a table with the given columns for people. */
export function printList(
  rows: readonly Row[],
  columns: readonly string[],
  options: OutputOptions,
): void {
  if (options.json === true) return printJson(rows);
  const lines = [columns, ...rows.map((row) => columns.map((column) => cell(row[column])))];
  const widths = columns.map((_, index) =>
    Math.max(...lines.map((line) => line[index]?.length ?? 0)),
  );
  for (const line of lines) {
    const text = line.map((value, index) => value.padEnd(widths[index] ?? 0)).join('  ');
    process.stdout.write(`${text.trimEnd()}\n`);
  }
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(cell).join(', ');
  return JSON.stringify(value);
}
