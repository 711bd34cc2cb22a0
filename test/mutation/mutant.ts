import { createHash } from 'node:crypto';

export type MutantKind =
  | 'condition'
  | 'conjunct'
  | 'bound'
  | 'await'
  | 'return'
  | 'statement'
  | 'order'
  | 'sql-conjunct'
  | 'sql-bound'
  | 'sql-unique'
  | 'sql-lock'
  | 'sql-order'
  | 'sql-column'
  | 'sql-conflict'
  | 'lua-condition'
  | 'lua-bound'
  | 'lua-statement';

/** One change in one file, found by a generator. Offsets are those of the unchanged text. */
export interface Edit {
  readonly kind: MutantKind;
  readonly start: number;
  readonly end: number;
  readonly after: string;
  /**
   * In TypeScript, the names around the change (functions, constants, properties), joined by dots.
   * In a migration, the first words of the SQL statement.
   */
  readonly scope: string;
  /**
   * The number of the function that a test must enter to reach the change (see `run/reach.ts`). 0
   * means the module.
   */
  readonly reach: number;
  /**
   * Set only for SQL in TypeScript: the original string in which the change is made. In a template,
   * only the literal part around the change, without a `${…}`.
   */
  readonly sql?: string;
}

export interface Mutant extends Edit {
  /**
   * Twelve hex digits. The id does not change if the line number changes, or if the file moves
   * within its `src`.
   */
  readonly id: string;
  /** Relative to the checkout. */
  readonly file: string;
  readonly line: number;
  readonly before: string;
}

const idDigits = 12;

function squeeze(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function withoutFolders(file: string): string {
  return file.replace(/(\/src\/).*\//, '$1');
}

export function toMutants(file: string, text: string, edits: readonly Edit[]): Mutant[] {
  const seen = new Map<string, number>();
  return edits
    .toSorted((one, other) => one.start - other.start || one.end - other.end)
    .map((edit) => {
      const before = text.slice(edit.start, edit.end);
      const words = [
        withoutFolders(file),
        edit.scope,
        edit.kind,
        squeeze(before),
        squeeze(edit.after),
      ];
      const key = words.join('\0');
      const ordinal = seen.get(key) ?? 0;
      seen.set(key, ordinal + 1);
      const id = createHash('sha256').update(`${key}\0${ordinal}`).digest('hex').slice(0, idDigits);
      const line = text.slice(0, edit.start).split('\n').length;
      return { ...edit, id, file, line, before };
    });
}

/** Throws if the text does not have `before` at the mutant's place. */
export function applyMutant(text: string, { file, start, end, before, after }: Mutant): string {
  if (text.slice(start, end) !== before)
    throw new Error(`${file} has changed since its mutants were generated; start the run again`);
  return text.slice(0, start) + after + text.slice(end);
}
