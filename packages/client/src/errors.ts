import type { Problem, Submission } from './types.ts';

/** The `code` of an answer that is not from the service, for example from a proxy. */
export const unrecognisedAnswer = 'unrecognised_answer';

/** The base class of the error classes of this library. */
export class SvcError extends Error {
  override readonly name: string = 'SvcError';
}

/**
 * The answer is an error of the service, or does not come from the service (`unrecognisedAnswer`).
 * Decide by `code`. Quote `requestId` when you ask for support.
 */
export class ApiError extends SvcError {
  override readonly name: string = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string | null;
  /** The body of the error (RFC 9457). Empty if `code` is `unrecognisedAnswer`. */
  readonly problem: Partial<Problem>;

  constructor(status: number, requestId: string | null, problem: Partial<Problem>) {
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
 * 400, 405, 408, 413, 415, 431 and other 4xx without their own class: the service did not accept
 * the request.
 */
export class BadRequestError extends ApiError {
  override readonly name = 'BadRequestError';
}

/** 401: the request could not be authenticated. */
export class AuthenticationError extends ApiError {
  override readonly name = 'AuthenticationError';
}

/** 402. `problem.required` is the hold that the submission needs, in credits. */
export class InsufficientCreditsError extends ApiError {
  override readonly name = 'InsufficientCreditsError';
}

/** 403. */
export class PermissionDeniedError extends ApiError {
  override readonly name = 'PermissionDeniedError';
}

/** 404. */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError';
}

/** 409. */
export class ConflictError extends ApiError {
  override readonly name = 'ConflictError';
}

/** 422. If `code` is `validation_error`, `problem.errors` lists the violations. */
export class ValidationError extends ApiError {
  override readonly name = 'ValidationError';
}

/** 429. `problem.retryAfterSeconds` says when to repeat the call. */
export class RateLimitError extends ApiError {
  override readonly name = 'RateLimitError';
}

/**
 * 5xx. The outcome of the call may be unknown. If the call was `submit`, repeat it with the same
 * idempotency key.
 */
export class ServerError extends ApiError {
  override readonly name = 'ServerError';
}

const classes: Readonly<Record<number, typeof ApiError>> = {
  401: AuthenticationError,
  402: InsufficientCreditsError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  422: ValidationError,
  429: RateLimitError,
};

export function apiError(
  status: number,
  requestId: string | null,
  problem: Partial<Problem>,
): ApiError {
  const other = status >= 500 ? ServerError : status >= 400 ? BadRequestError : ApiError;
  return new (classes[status] ?? other)(status, requestId, problem);
}

/**
 * No complete answer arrived. `cause` is the error of `fetch`; a timeout has no cause. The outcome
 * of the call is unknown.
 */
export class ApiConnectionError extends SvcError {
  override readonly name: string = 'ApiConnectionError';
}

export class ApiTimeoutError extends ApiConnectionError {
  override readonly name = 'ApiTimeoutError';
}

/**
 * The next poll of `waitFor` would be later than its timeout. The submission continues. `cause` is
 * the error of the last poll, or undefined if it succeeded.
 */
export class WaitTimeoutError extends SvcError {
  override readonly name = 'WaitTimeoutError';
  /** The submission as the last successful poll read it. Null if no poll succeeded. */
  readonly last: Submission | null;

  constructor(submissionId: string, timeoutMs: number, last: Submission | null, cause: unknown) {
    super(`${submissionId}: no end seen in ${timeoutMs} ms.`, { cause });
    this.last = last;
  }
}

/** The webhook could not be verified. Answer 400 or 401 and do not act on it. */
export class WebhookVerificationError extends SvcError {
  override readonly name = 'WebhookVerificationError';
}
