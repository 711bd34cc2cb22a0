import type { Reach } from './reach.ts';
import type { FileEnd, OtherText } from './test-files.ts';

/**
 * An order to a worker. Orders are sent one at a time. Each order gets one answer, unless the
 * worker is lost.
 */
export type Order =
  | { readonly kind: 'baseline'; readonly testFile: string }
  /** In the next runs, `change` replaces the text of one file. Undefined: none is replaced. */
  | { readonly kind: 'mutate'; readonly change: OtherText | undefined }
  | { readonly kind: 'run'; readonly testFile: string }
  /** Runs `testFile` once for all mutants in `text`, in the way of the `Plan` in `planFile`. */
  | {
      readonly kind: 'run_plan';
      readonly testFile: string;
      readonly change: OtherText;
      readonly planFile: string;
    }
  | { readonly kind: 'end' };

export type Answer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'baseline'; readonly end: FileEnd; readonly reach: Reach }
  | { readonly kind: 'mutated'; readonly outcome: 'ready' | 'same_schema' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'run'; readonly end: FileEnd }
  | { readonly kind: 'ended' };
