import { compileSchema, Problem } from '@svc/contracts';
import type { RawResponse } from '@svc/testkit';
import type { Static, TSchema } from 'typebox';

export function bodyOf<Schema extends TSchema>(
  response: RawResponse,
  schema: Schema,
): Static<Schema> {
  const validation = compileSchema(schema)(response.json());
  if (validation.kind === 'valid') return validation.value;
  throw new Error(`${response.text} ${JSON.stringify(validation.errors)}`);
}

export function problemOf(response: RawResponse): Problem {
  return bodyOf(response, Problem);
}

export function refusalOf(response: RawResponse): string {
  const { status, code, errors } = problemOf(response);
  const [first] = errors ?? [];
  return [status, code, first?.parameter ?? first?.path].filter(Boolean).join(' ');
}

export const payload = {
  applicationUrl: 'https://jobs.example.com/apply/8841',
  atsType: 'greenhouse',
  applicantProfile: { name: 'Ana Pérez' },
  jobContext: { title: 'Welder', company: 'Example Works' },
};

export const submission = (idempotencyKey: string, more: object = {}) => ({
  idempotencyKey,
  jobType: 'ats.application',
  payload,
  ...more,
});
