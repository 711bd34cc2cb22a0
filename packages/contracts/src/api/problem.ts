import { errorCodes } from '@svc/domain';
import { Type, type Static } from 'typebox';
import { Credits, RefundFigures, Usdc, WireId } from './common.ts';
import { SubmissionStatus } from './submissions.ts';

export const problemMediaType = 'application/problem+json';

/** One violation in a 422. For a bad query parameter, `parameter` names it and `path` is empty. */
export const ProblemError = Type.Object({
  path: Type.String(),
  message: Type.String(),
  keyword: Type.String(),
  parameter: Type.Optional(Type.String()),
});
export type ProblemError = Static<typeof ProblemError>;

/** The JSON of an error answer (RFC 9457, CONTRACT 2). */
export const Problem = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  code: Type.Enum(errorCodes),
  requestId: Type.String(),
  required: Type.Optional(Credits),
  errors: Type.Optional(Type.Array(ProblemError)),
  submissionId: Type.Optional(WireId('sub')),
  submissionStatus: Type.Optional(SubmissionStatus),
  refund: Type.Optional(RefundFigures),
  reference: Type.Optional(Type.String()),
  paidAmount: Type.Optional(Usdc),
  retryAfterSeconds: Type.Optional(Type.Integer()),
});
export type Problem = Static<typeof Problem>;
