import type { TSchema } from 'typebox';
import { compileSchema, type Validation } from '../api/validate.ts';
import { AtsApplicationPayload } from './ats-application.ts';

/** The members that the payload of every job type has. */
export interface OfferedPayload {
  readonly applicationUrl: string;
  /**
   * The kind of applicant tracking system (ATS), only a hint for the node. In the sandbox, a value
   * `sandbox.…` selects the behaviour of simulated nodes.
   */
  readonly atsType: string;
}

/** A job type that the service accepts. The service refuses every other name (CONTRACT 0). */
export interface JobTypeDefinition {
  readonly jobType: string;
  readonly payloadSchema: TSchema;
  /**
   * The members of the payload whose content the service does not interpret. Duplicate names inside
   * these members are allowed.
   */
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
