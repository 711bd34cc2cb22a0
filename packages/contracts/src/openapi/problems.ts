import { errorCatalogue, type ErrorCode, errorCodes, retryAfterSecondsDefault } from '@svc/domain';
import type { Problem } from '../api/problem.ts';
import { problemMediaType } from '../api/problem.ts';
import * as examples from './examples.ts';

/** The responses of the error catalogue, for the document (CONTRACT 2). */

/** Where the page of errors stands; each code is an anchor on it. */
export const errorsPagePath = '/docs/errors';

/** What `type` of a problem says. */
export function problemType(code: ErrorCode): string {
  return `${errorsPagePath}#${code}`;
}

/** What some codes add to the members that every problem has. */
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
        message: 'must be an http or https URL whose host is public',
        keyword: 'format',
      },
    ],
  },
  rate_limited: { retryAfterSeconds: retryAfterSecondsDefault },
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

/** Each status with the codes of these that have it. */
export function codesByStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodes.filter((one) => codes.includes(one))) {
    const { status } = errorCatalogue[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

/** Members that every answer of a code has, though others have them not. */
const requiredExtras: Partial<Record<ErrorCode, readonly string[]>> = {
  insufficient_credits: ['required'],
  validation_error: ['errors'],
  terminal_state: ['submissionId', 'submissionStatus'],
  rate_limited: ['retryAfterSeconds'],
  dispatch_unavailable: ['retryAfterSeconds'],
  unavailable: ['retryAfterSeconds'],
};

const headersOf: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** The response of a status that answers with one of these codes. */
export function problemResponse(status: number, codes: readonly ErrorCode[]): object {
  return {
    description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code].description}`).join(' '),
    headers: headerRefs(headersOf[status] ?? []),
    content: {
      [problemMediaType]: {
        schema: {
          allOf: [{ $ref: '#/components/schemas/Problem' }],
          oneOf: codes.map((code) => ({
            type: 'object',
            title: errorCatalogue[code].title,
            properties: {
              code: { const: code },
              status: { const: status },
              type: { const: problemType(code) },
            },
            required: ['code', 'status', 'type', ...(requiredExtras[code] ?? [])],
          })),
        },
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

/** Every answer carries its id; some carry more. */
export function headerRefs(names: readonly string[]): Record<string, object> {
  return Object.fromEntries(
    ['x-request-id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}
