/** A mutation: a bug put into the product's code when the code is loaded, and nowhere else. */
export interface Planted {
  readonly name: string;
  /** The defect, in one sentence. */
  readonly what: string;
  readonly edits: readonly PlantedEdit[];
  /** The test that catches it, if the faults run cannot. */
  readonly caughtBy?: string;
  /** Removed from the database too, so that the database does not refuse the bug. */
  readonly sql?: readonly string[];
}

export interface PlantedEdit {
  /** Relative to the checkout. */
  readonly file: string;
  /** Must occur exactly once. */
  readonly from: string;
  readonly to: string;
}

/**
 * The file's source with the mutation. Throws if the code has changed: then update the mutation.
 */
export function plant(source: string, { file, from, to }: PlantedEdit): string {
  const parts = source.split(from);
  if (parts.length === 2) return parts.join(to);
  throw new Error(
    `${file} has the text of the mutation ${parts.length - 1} times, not once: ${from}`,
  );
}
