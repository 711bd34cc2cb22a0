import { type Problem, problemType } from '@svc/contracts';
import { type ErrorCode, errorCatalogue, retryAfterSecondsDefault } from '@svc/domain';

export type Answer = JsonAnswer | TextAnswer | EmptyAnswer | ProblemAnswer;

export interface JsonAnswer {
  readonly kind: 'json';
  readonly status: number;
  readonly body: object;
  /**
   * These fields are added to the log line of the request. `submissionId` is also added to the
   * trace of the request. The client does not get the fields.
   */
  readonly logFields?: AnswerLogFields;
}

export interface AnswerLogFields {
  readonly submissionId?: string;
  readonly deliveryId?: string;
}

export interface TextAnswer {
  readonly kind: 'text';
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** The names of the headers are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A 204: an answer without a body. */
export interface EmptyAnswer {
  readonly kind: 'empty';
}

/** The members of a problem that only some codes have (CONTRACT 2). */
export type ProblemExtras = Partial<
  Pick<
    Problem,
    | 'required'
    | 'errors'
    | 'submissionId'
    | 'submissionStatus'
    | 'refund'
    | 'reference'
    | 'paidAmount'
    | 'retryAfterSeconds'
  >
>;

export interface ProblemAnswer {
  readonly kind: 'problem';
  readonly code: ErrorCode;
  readonly detail: string;
  readonly extras: ProblemExtras;
  readonly headers: Readonly<Record<string, string>>;
}

export function json(status: number, body: object, logFields?: AnswerLogFields): JsonAnswer {
  return logFields === undefined
    ? { kind: 'json', status, body }
    : { kind: 'json', status, body, logFields };
}

export const noContent: EmptyAnswer = { kind: 'empty' };

export function text(
  status: number,
  contentType: string,
  content: string,
  headers: Readonly<Record<string, string>> = {},
): TextAnswer {
  return { kind: 'text', status, contentType, text: content, headers };
}

export function problem(
  code: ErrorCode,
  detail: string,
  extras: ProblemExtras = {},
  headers: Readonly<Record<string, string>> = {},
): ProblemAnswer {
  return { kind: 'problem', code, detail, extras, headers };
}

/** A 503. It always has `Retry-After`. */
export function unavailable(
  code: 'unavailable' | 'dispatch_unavailable',
  detail: string,
): ProblemAnswer {
  return problem(
    code,
    detail,
    { retryAfterSeconds: retryAfterSecondsDefault },
    { 'retry-after': String(retryAfterSecondsDefault) },
  );
}

/** A 429. It always has `Retry-After`, in whole seconds and at least 1. */
export function rateLimited(retryInMs: number, detail: string): ProblemAnswer {
  const retryAfterSeconds = Math.max(Math.ceil(retryInMs / 1000), 1);
  return problem(
    'rate_limited',
    detail,
    { retryAfterSeconds },
    { 'retry-after': String(retryAfterSeconds) },
  );
}

/**
 * The same answer for an unknown route, an unknown id and another tenant's id. `detail` therefore
 * names neither path nor id (CONTRACT 2).
 */
export const notFound = problem(
  'not_found',
  'The route or resource does not exist. Check the path and the id.',
);

/** The body of a problem answer (RFC 9457). */
export function problemBody(
  { code, detail, extras }: Pick<ProblemAnswer, 'code' | 'detail' | 'extras'>,
  requestId: string,
): Problem {
  const { status, title } = errorCatalogue[code];
  return { type: problemType(code), title, status, detail, code, requestId, ...extras };
}
