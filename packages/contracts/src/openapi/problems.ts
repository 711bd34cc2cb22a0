import { errorCatalogue, type ErrorCode, errorCodes, retryAfterSecondsDefault } from '@svc/domain';
import type { Problem } from '../api/problem.ts';
import { problemMediaType } from '../api/problem.ts';
import * as examples from './annotations/examples.ts';

/** The error responses of the OpenAPI document, made from the error catalogue (CONTRACT 2). */

/** The path of the page of errors. Each code is an anchor on it. */
export const errorsPagePath = '/docs/errors';

export function problemType(code: ErrorCode): string {
  return `${errorsPagePath}#${code}`;
}

const extras: Partial<Record<ErrorCode, Partial<Problem>>> = {
  insufficient_credits: { required: 200 },
  terminal_state: {
    submissionId: examples.submissionId,
    submissionStatus: 'cancelled',
    refund: examples.refund,
  },
  validation_error: {
    errors: [
      {
        path: '/payload/applicationUrl',
        message: 'must be an http or https URL with a public host and without a user or password',
        keyword: 'format',
      },
    ],
  },
  rate_limited: { retryAfterSeconds: retryAfterSecondsDefault },
  too_many_intents: { retryAfterSeconds: retryAfterSecondsDefault },
  intent_expired: { reference: examples.solanaReference, paidAmount: 0 },
  intent_failed: { reference: examples.solanaReference, paidAmount: 12.5 },
  dispatch_unavailable: { retryAfterSeconds: retryAfterSecondsDefault },
  unavailable: { retryAfterSeconds: retryAfterSecondsDefault },
};

export function problemExample(code: ErrorCode): Problem {
  const { status, title, description } = errorCatalogue[code];
  return {
    type: problemType(code),
    title,
    status,
    detail: description,
    code,
    requestId: examples.requestId,
    ...extras[code],
  };
}

/** Groups `codes` by HTTP status, in the order of the error catalogue. */
export function codesByStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodes.filter((one) => codes.includes(one))) {
    const { status } = errorCatalogue[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

/** The members that are required for a code but not for every problem. */
export const requiredExtras: Partial<Record<ErrorCode, readonly string[]>> = {
  insufficient_credits: ['required'],
  validation_error: ['errors'],
  terminal_state: ['submissionId', 'submissionStatus'],
  rate_limited: ['retryAfterSeconds'],
  too_many_intents: ['retryAfterSeconds'],
  intent_expired: ['reference', 'paidAmount'],
  intent_failed: ['reference', 'paidAmount'],
  dispatch_unavailable: ['retryAfterSeconds'],
  unavailable: ['retryAfterSeconds'],
};

const headersOf: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

const problemRef = { $ref: '#/components/schemas/Problem' };

function requiredOf(code: ErrorCode): readonly string[] {
  return requiredExtras[code] ?? [];
}

/**
 * The schema of a problem with one of `codes`. It also accepts any other code, because a code may
 * be added later (decision 11).
 */
function problemSchema(codes: readonly ErrorCode[]): object {
  const [first = [], ...others] = codes.map(requiredOf);
  const shared = first.filter((member) => others.every((one) => one.includes(member)));
  const conditions = codes.flatMap((code) => {
    const required = requiredOf(code).filter((member) => !shared.includes(member));
    return required.length === 0 ? [] : [conditionFor(code, required)];
  });
  if (shared.length === 0 && conditions.length === 0) return problemRef;
  // The keyword `required` must stand next to `allOf`, because `openapi-typescript` would not apply
  // a `required` inside `allOf` to the members of `Problem`.
  const required = shared.length === 0 ? {} : { required: shared };
  return { allOf: [problemRef, ...conditions], ...required };
}

/**
 * Returns an `if`/`then` condition for one code. If the schema were a union with a variant for each
 * code, generated clients would refuse codes that are added later.
 */
function conditionFor(code: ErrorCode, required: readonly string[]): object {
  return {
    if: { type: 'object', properties: { code: { const: code } }, required: ['code'] },
    then: { type: 'object', required },
  };
}

export function problemResponse(
  status: number,
  codes: readonly ErrorCode[],
): { readonly description: string; readonly headers: object; readonly content: object } {
  return {
    description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code].description}`).join(' '),
    headers: headerRefs(headersOf[status] ?? []),
    content: {
      [problemMediaType]: {
        schema: problemSchema(codes),
        examples: Object.fromEntries(
          codes.map((code) => [
            code,
            { summary: errorCatalogue[code].title, value: problemExample(code) },
          ]),
        ),
      },
    },
  };
}

/** An error response: a problem, or an HTML page if the request came from an HTML form. */
export function problemPage(status: number, codes: readonly ErrorCode[]): { content: object } {
  const problem = problemResponse(status, codes);
  return { ...problem, content: { ...problem.content, 'text/html': { schema: {} } } };
}

export function headerRefs(names: readonly string[]): Record<string, object> {
  return Object.fromEntries(
    ['x-request-id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}
