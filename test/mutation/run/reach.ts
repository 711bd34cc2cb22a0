import { functionBodies } from '../generators/typescript.ts';

/** The code that one test file reached in one run without a mutant. */
export interface Reach {
  /** `file#n` of each function that was entered (see `Edit.reach`). */
  readonly functions: readonly string[];
  /** The texts that were sent to Postgres, except very long ones. `setup.ts` has the limits. */
  readonly statements: readonly string[];
}

export function functionKey(file: string, reach: number): string {
  return `${file}#${reach}`;
}

/** The text with a recorder at the start of each function. `setup.ts` collects the records. */
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
