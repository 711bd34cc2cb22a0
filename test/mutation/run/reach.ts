import { functionBodies } from '../generators/typescript.ts';

/** The code that one test file reached in one run without a mutant. */
export interface Reach {
  /** The key (`functionKey`) of each function that the file entered. */
  readonly functions: readonly string[];
  /** Those that were entered while no test ran: at the import, and in hooks around several tests. */
  readonly outside: readonly string[];
  /** Maps the id of each test to the functions that were entered while it ran. */
  readonly tests: Readonly<Record<string, readonly string[]>>;
  /** The statements that were sent to Postgres. `setup.ts` limits their length and their number. */
  readonly statements: readonly string[];
}

export const noReach: Reach = { functions: [], outside: [], tests: {}, statements: [] };

export function functionKey(file: string, reach: number): string {
  return `${file}#${reach}`;
}

/**
 * Returns the text with code that records each function that a test enters: the function adds its
 * key to `svcMutationReach`.
 */
export function withNotes(file: string, text: string): string {
  const note = (index: number) =>
    `globalThis.svcMutationReach?.add(${JSON.stringify(functionKey(file, index + 1))})`;
  const insertions = functionBodies(file, text).flatMap(({ at, end, isBlock }, index) =>
    isBlock
      ? [{ at, added: `${note(index)};` }]
      : [
          { at, added: `(${note(index)}, ` },
          { at: end, added: ')' },
        ],
  );
  let last = 0;
  let noted = '';
  for (const { at, added } of insertions.toSorted((one, other) => one.at - other.at)) {
    noted += text.slice(last, at) + added;
    last = at;
  }
  return noted + text.slice(last);
}
