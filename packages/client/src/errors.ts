import type { Submission } from './types.ts';

/** The body of an error answer: RFC 9457 problem details. */
export interface Problem {
  readonly type?: string;
  readonly title?: string;
  readonly status?: number;
  readonly detail?: string;
  readonly code?: string;
  readonly requestId?: string;
  /** 402: the credits that the hold would have taken. */
  readonly required?: number;
  /** 422: where in the body (JSON Pointer) or in which query parameter, and why. */
  readonly errors?: readonly {
    readonly path: string;
    readonly message: string;
    readonly keyword?: string;
    readonly parameter?: string;
  }[];
  readonly submissionId?: string;
  readonly submissionStatus?: string;
  /** 409 `terminal_state` of a cancelled submission. */
  readonly refund?: { readonly amount: number; readonly charged: number };
  /** 429 and 503. */
  readonly retryAfterSeconds?: number;
}

/** What `code` is where an answer is not the service's own, of a proxy in between for example. */
export const unrecognisedAnswer = 'unrecognised_answer';

/** The service answered, with an error. `code` is what to decide by; `requestId` what to quote. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string | null;
  readonly problem: Problem;

  constructor(status: number, requestId: string | null, problem: Problem) {
    const code = problem.code ?? unrecognisedAnswer;
    const detail = problem.detail ?? problem.title ?? 'The answer is not one of the service.';
    super(`${status} ${code}: ${detail}`);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.requestId = problem.requestId ?? requestId;
    this.problem = problem;
  }
}

/** `waitFor` gave up. The submission goes on; `last` is how it was last seen, `cause` what failed. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError';
  readonly last: Submission | null;

  constructor(submissionId: string, timeoutMs: number, last: Submission | null, cause: unknown) {
    super(`${submissionId} has not ended within ${timeoutMs} ms.`, { cause });
    this.last = last;
  }
}

/** The webhook is not to be trusted: answer 400 or 401 and do nothing. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}
