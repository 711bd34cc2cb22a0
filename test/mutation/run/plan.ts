/** What `PlanRunner` does with one test file. `worker.ts` writes it to a file. */
export interface Plan {
  /** Maps the id of a test to the ids of the mutants against which it runs. */
  readonly tests: Readonly<Record<string, readonly string[]>>;
  /** A mutant that passes this many tests of the file meets no further one. Null: no limit. */
  readonly passesMax: number | null;
  /** The path of the file to which each `PlanEntry` is appended, one a line. */
  readonly entriesFile: string;
}

export type PlanEntry =
  | { readonly kind: 'began'; readonly id: string }
  | { readonly kind: 'passed'; readonly id: string; readonly testId: string }
  /** The test failed with the mutant, and then passed without it. */
  | { readonly kind: 'failed'; readonly id: string; readonly by: string }
  /** The test failed with the mutant once, and passed with it and without it after that. */
  | {
      readonly kind: 'unclear';
      readonly id: string;
      readonly testId: string;
      readonly by: string;
    }
  /** The test failed with the mutant, and then without it too. The run ends. */
  | { readonly kind: 'spoiled'; readonly id: string; readonly testId: string }
  /** The test failed before any mutant ran. */
  | { readonly kind: 'unusable'; readonly testId: string };

/**
 * Matches texts of errors whose cause may be an overloaded machine, or a mutant that ran before,
 * instead of the mutant.
 */
export const mayBeTheMachine =
  /timed? ?out|did not answer|no answer|has ended|connection|ECONN|too many clients|unhandled rejection/i;
export const isTimeout = /timed out in \d+ ?ms/i;
