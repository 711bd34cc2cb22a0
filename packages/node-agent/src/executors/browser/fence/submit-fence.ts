/** A request that a page makes, as the gate sees it before it leaves the browser. */
export interface PageRequest {
  readonly method: string;
  readonly url: string;
  /** The body as text, cut to a bound; undefined if there is none. */
  readonly bodyText: string | undefined;
  /** True if it replaces the document of a frame, as a form without a script does. */
  readonly isNavigation: boolean;
}

/** True if the request carries the application to its endpoint (CONTRACT 10, "At most once"). */
export type SubmissionMatcher = (request: PageRequest) => boolean;

/** The end of the one submission request. */
export type SubmissionSent =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly url: string;
      /** The body of the answer, cut to 1 MiB; undefined if the browser does not have it. */
      readonly bodyText: string | undefined;
    }
  /** It left, or may have left, and no answer came. */
  | { readonly kind: 'unanswered' }
  /** No submission request was made in time. None can leave from now on. */
  | { readonly kind: 'nothing_sent' };

/** Lets exactly one submission request leave the machine, whatever the page does. */
export interface SubmitFence {
  /** From now on a request that matches is aborted until `submit`. */
  arm(matcher: SubmissionMatcher): void;
  /**
   * Records `submitting` in the journal, then activates once, then lets the first matching request
   * out on a fresh connection. Every later request other than GET, HEAD and OPTIONS is aborted.
   * `activate` is called at most once, and not at all if the journal cannot be written.
   */
  submit(activate: () => Promise<void>): Promise<SubmissionSent>;
}
