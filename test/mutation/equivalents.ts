/** A mutant that no test can kill, because it does what the original does. */
export interface Equivalent {
  readonly id: string;
  readonly file: string;
  /** The change, for the reader. */
  readonly change: string;
  readonly reason: string;
}

export const equivalents: readonly Equivalent[] = [];
