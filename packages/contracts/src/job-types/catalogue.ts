import type { TSchema } from 'typebox';
import { compileSchema, type Validation } from '../api/validate.ts';
import { AtsApplicationPayload } from './ats-application.ts';

/** What a payload of every job type has: offers name the host of the one, nodes go by the other. */
export interface OfferedPayload {
  readonly applicationUrl: string;
  readonly atsType: string;
}

/** A declared type of job; nothing else is accepted (CONTRACT 0). */
export interface JobTypeDefinition {
  readonly jobType: string;
  readonly payloadSchema: TSchema;
  /** Members of the payload that are passed on untouched and not looked into. */
  readonly opaqueMembers: readonly string[];
  readonly validatePayload: (payload: unknown, basePath: string) => Validation<OfferedPayload>;
}

const definitions: readonly JobTypeDefinition[] = [
  {
    jobType: 'ats.application',
    payloadSchema: AtsApplicationPayload,
    opaqueMembers: ['applicantProfile'],
    validatePayload: compileSchema(AtsApplicationPayload),
  },
];

const byName = new Map(definitions.map((definition) => [definition.jobType, definition]));

export const jobTypeNames: readonly string[] = [...byName.keys()];

export function findJobType(jobType: string): JobTypeDefinition | undefined {
  return byName.get(jobType);
}
