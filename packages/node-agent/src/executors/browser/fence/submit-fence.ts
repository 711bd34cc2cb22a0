export interface PageRequest {
  readonly method: string;
  readonly url: string;
  /**
   * The body, cut to `bodyTextLengthMax` characters. It lacks the parts that the browser does not
   * report, such as a file from the disk. Undefined if the browser reports no part.
   */
  readonly bodyText: string | undefined;
  /** True if the browser loads the answer as the document of a frame, as for a plain HTML form. */
  readonly isNavigation: boolean;
  /** True for `navigator.sendBeacon`, whose answer the page cannot read. */
  readonly isBeacon?: true;
}

/** True if the request carries the application to its endpoint (CONTRACT 10, "At most once"). */
export type SubmissionMatcher = (request: PageRequest) => boolean;

export type SubmissionSent =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly url: string;
      /**
       * The body of the answer, cut to 1,024 × 1,024 characters. Undefined if a redirect came, but
       * no whole answer after it.
       */
      readonly bodyText: string | undefined;
    }
  /**
   * The fence chose a submission request, but got no whole answer, or only a redirect that asks to
   * send the application again. The request may have left the machine.
   */
  | { readonly kind: 'unanswered' }
  /** The fence closed before it let a submission request out. None can leave after this. */
  | { readonly kind: 'nothing_sent' };

/** Lets at most one submission request leave the machine. The page cannot change this limit. */
export interface SubmitFence {
  /**
   * Sets or replaces `matcher`. Aborts the requests that it matches until `submit` calls
   * `activate`. Throws if `submit` has called `activate` already, or if the fence is closed.
   */
  arm(matcher: SubmissionMatcher): void;
  /**
   * First records `submitting` in the journal. Then calls `activate` and lets out the submission
   * request. Rejects if the record fails, or if the fence is not in the phase `armed`.
   */
  submit(activate: () => Promise<void>): Promise<SubmissionSent>;
}
