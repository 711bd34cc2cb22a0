import { tenantNameLengthMax, webhookUrlLengthMax } from '@svc/domain';
import { Type, type Static } from 'typebox';
import { Credits, WireId } from './common.ts';

/** The body of `POST /signup` (CONTRACT 5). The endpoint exists only in the sandbox. */
export const SignupRequest = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: tenantNameLengthMax }),
    webhookUrl: Type.Optional(Type.String({ maxLength: webhookUrlLengthMax })),
  },
  { additionalProperties: false },
);
export type SignupRequest = Static<typeof SignupRequest>;

/** The new tenant. Its secrets are shown only in this answer. */
export const SignupAnswer = Type.Object({
  tenantId: WireId('tnt'),
  hmacSecret: Type.String(),
  webhookSecret: Type.String(),
  allowedJobTypes: Type.Array(Type.String()),
  balance: Credits,
});
export type SignupAnswer = Static<typeof SignupAnswer>;
