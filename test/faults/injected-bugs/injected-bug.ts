/** A bug that is put into the product's code when a process loads the code. No file is changed. */
export interface InjectedBug {
  readonly name: string;
  readonly what: string;
  readonly edits: readonly SourceEdit[];
  /** The test file or command that catches the bug. Undefined if `pnpm faults:bugs` catches it. */
  readonly caughtBy?: string;
  /** SQL that removes the constraints and indexes that would refuse the bug's writes. */
  readonly sql?: readonly string[];
}

export interface SourceEdit {
  /** The path of the file, relative to the checkout. */
  readonly file: string;
  /** The text to replace. It must occur exactly once in the file. */
  readonly from: string;
  readonly to: string;
}

export function applyEdit(source: string, { file, from, to }: SourceEdit): string {
  const parts = source.split(from);
  if (parts.length === 2) return parts.join(to);
  throw new Error(
    `${file} contains the text of an edit ${parts.length - 1} times instead of once. Update the edit. Its text is: ${from}`,
  );
}
