/** A bug put into the product's code as it is loaded, and nowhere else. */
export interface Planted {
  readonly name: string;
  /** What is wrong with it, in a sentence. */
  readonly what: string;
  readonly edits: readonly PlantedEdit[];
  /** The test that catches it, if the faults run cannot. */
  readonly caughtBy?: string;
  /** What is taken from the database besides, so that the bug is not refused there. */
  readonly sql?: readonly string[];
}

export interface PlantedEdit {
  /** Below the checkout. */
  readonly file: string;
  /** Must be there exactly once. */
  readonly from: string;
  readonly to: string;
}

/** The file with the bug in it. Throws where the code has moved on: then mend the plant. */
export function plant(source: string, { file, from, to }: PlantedEdit): string {
  const parts = source.split(from);
  if (parts.length === 2) return parts.join(to);
  throw new Error(
    `${file} has the text to plant a bug in ${parts.length - 1} times, not once: ${from}`,
  );
}
