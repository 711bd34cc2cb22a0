/** A mutant that no test has to kill, because it breaks no promise of the original. */
export interface Equivalent {
  readonly id: string;
  readonly file: string;
  readonly change: string;
  readonly reason: string;
}
