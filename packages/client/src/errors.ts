import type { Submission } from './types.ts';

/** The body of an error: RFC 9457 problem details. */
export interface Problem {
  readonly type?: string;
  readonly title?: string;
  readonly status?: number;
  readonly detail?: string;
  readonly code?: string;
  readonly requestId?: string;
  /** For 402: the credits that the submission would have held. */
  readonly required?: number;
  /** For 422: each violation, at a JSON Pointer into the body or in a query parameter. */
  readonly errors?: readonly {
    readonly path: string;
    readonly message: string;
    readonly keyword?: string;
    readonly parameter?: string;
  }[];
  readonly submissionId?: string;
  readonly submissionStatus?: string;
  /** For 409 `terminal_state` of a cancelled submission. */
  readonly refund?: { readonly amount: number; readonly charged: number };
  /** For 429 and 503. */
  readonly retryAfterSeconds?: number;
}

/** The `code` of an answer that is not from the service, for example from a proxy. */
export const unrecognisedAnswer = 'unrecognised_answer';

/** The service answered with an error. Decide by `code`. Quote `requestId` when you ask for support. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string | null;
  readonly problem: Problem;

  constructor(status: number, requestId: string | null, problem: Problem) {
    const code = problem.code ?? unrecognisedAnswer;
    const detail = problem.detail ?? problem.title ?? 'The answer does not come from the service.';
    super(`${status} ${code}: ${detail}`);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.requestId = problem.requestId ?? requestId;
    this.problem = problem;
  }
}

/**
 * `waitFor` reached its timeout. The submission continues. `last` is its last known state, and
 * `cause` the last error, if any.
 */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError';
  readonly last: Submission | null;

  constructor(submissionId: string, timeoutMs: number, last: Submission | null, cause: unknown) {
    super(`${submissionId} did not end within ${timeoutMs} ms.`, { cause });
    this.last = last;
  }
}

/** The webhook cannot be trusted. Answer 400 or 401 and do not act on it. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}
