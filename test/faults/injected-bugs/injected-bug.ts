/** A bug that is put into the product's code when the code is loaded, and nowhere else. */
export interface InjectedBug {
  readonly name: string;
  /** The defect, in one sentence. */
  readonly what: string;
  readonly edits: readonly SourceEdit[];
  /** The test that catches it, if the faults run cannot. */
  readonly caughtBy?: string;
  /** Statements that remove the database's own guard, which would otherwise refuse the bug. */
  readonly sql?: readonly string[];
}

export interface SourceEdit {
  /** Relative to the checkout. */
  readonly file: string;
  /** Must occur exactly once. */
  readonly from: string;
  readonly to: string;
}

/**
 * The file's source with the bug. Throws if `from` does not occur exactly once. Then update the
 * edit.
 */
export function applyEdit(source: string, { file, from, to }: SourceEdit): string {
  const parts = source.split(from);
  if (parts.length === 2) return parts.join(to);
  throw new Error(`${file} has the text of the edit ${parts.length - 1} times, not once: ${from}`);
}
