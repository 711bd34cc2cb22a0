import {
  applicationUrlLengthMax,
  atsTypeLengthMax,
  jobContextTextLengthMax,
  payloadMemberDepthMax,
} from '@svc/domain';
import { Type, type Static } from 'typebox';
import { publicHttpUrlFormat } from '../api/validate.ts';
import { profileGuidePath } from './profile-guide.ts';

/** The payload of the job type `ats.application`: one job application (CONTRACT 3 and 5). */

const ContextText = Type.String({ minLength: 1, maxLength: jobContextTextLengthMax });

export const AtsApplicationPayload = Type.Object(
  {
    applicationUrl: Type.String({
      maxLength: applicationUrlLengthMax,
      format: publicHttpUrlFormat,
    }),
    atsType: Type.String({ minLength: 1, maxLength: atsTypeLengthMax }),
    // The browser executor of a node checks the members.
    applicantProfile: Type.Object(
      {},
      {
        description: `The profile may nest at most ${payloadMemberDepthMax} levels deep. The service passes it on as sent. \`${profileGuidePath}\` describes how nodes read it.`,
      },
    ),
    jobContext: Type.Object({ title: ContextText, company: ContextText }),
  },
  { additionalProperties: false },
);
export type AtsApplicationPayload = Static<typeof AtsApplicationPayload>;
