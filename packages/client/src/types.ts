import type * as generated from './generated/types.ts';

export type * from './generated/types.ts';

/**
 * Requests and answers as on the wire. Ignore members and values that you do not know (CONTRACT 0).
 * Amounts have at most six decimals. Times are RFC 3339 in UTC.
 */

export type Tier = generated.Submission['tier'];
export type SubmissionStatus = generated.Submission['status'];
export type TerminalStatus = 'submitted' | 'failed' | 'cancelled';
export type EndedSubmission = generated.Submission & { readonly status: TerminalStatus };
export type Readiness = generated.Ready | generated.NotReady;

/**
 * The payload of a submission: `AtsApplicationPayload`, or the payload of a job type that is added
 * later.
 */
export type Payload = generated.AtsApplicationPayload | Readonly<Record<string, unknown>>;

export interface SubmissionRequest extends Omit<generated.SubmissionRequest, 'payload'> {
  readonly payload: Payload;
}

export interface QuoteRequest extends Omit<generated.QuoteRequest, 'payload'> {
  readonly payload: Payload;
}

/** One page of a list, newest first. `nextCursor` is null on the last page. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly nextCursor: string | null;
}
