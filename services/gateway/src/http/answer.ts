import { type Problem, problemType } from '@svc/contracts';
import { type ErrorCode, errorCatalogue, retryAfterSecondsDefault } from '@svc/domain';

/** What a handler decides; sending it is somebody else's work. */
export type Answer = JsonAnswer | TextAnswer | ProblemAnswer;

export interface JsonAnswer {
  readonly kind: 'json';
  readonly status: number;
  readonly body: object;
  /** Goes into the line of the log, not to the client. */
  readonly logFields?: Readonly<Record<string, string>>;
}

/** A page or a document, sent as it is. */
export interface TextAnswer {
  readonly kind: 'text';
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The members of a problem that only some codes have (CONTRACT 2). */
export type ProblemExtras = Partial<
  Pick<
    Problem,
    'required' | 'errors' | 'submissionId' | 'submissionStatus' | 'refund' | 'retryAfterSeconds'
  >
>;

export interface ProblemAnswer {
  readonly kind: 'problem';
  readonly code: ErrorCode;
  readonly detail: string;
  readonly extras: ProblemExtras;
  readonly headers: Readonly<Record<string, string>>;
}

export function json(
  status: number,
  body: object,
  logFields: Readonly<Record<string, string>> = {},
): JsonAnswer {
  return { kind: 'json', status, body, logFields };
}

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

/** A 503, which always says when to come again. */
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

/** A 429, which always says when to come again: in whole seconds, one at least. */
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
 * One answer for an unknown route, an unknown id and somebody else's: `detail` names nothing
 * (CONTRACT 2).
 */
export const notFound = problem('not_found', 'There is no such route or resource.');

/** The body of a problem answer (RFC 9457). */
export function problemBody(
  { code, detail, extras }: Pick<ProblemAnswer, 'code' | 'detail' | 'extras'>,
  requestId: string,
): Problem {
  const { status, title } = errorCatalogue[code];
  return { type: problemType(code), title, status, detail, code, requestId, ...extras };
}
