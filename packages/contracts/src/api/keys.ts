import { keyAddressesMax, keyExpiresInDaysMax, keyScopes } from '@svc/domain';
import { Type, type Static } from 'typebox';
import { Nullable, Time, WireId } from './common.ts';

export const cidrFormat = 'cidr';
const cidrLengthMax = 43;

const keyMembers = {
  keyId: WireId('key'),
  scopes: Type.Array(Type.Enum(keyScopes)),
  addresses: Type.Array(Type.String()),
  createdAt: Time,
  expiresAt: Nullable(Time),
  /** The last use, rounded down to the minute. Null if no use is known. */
  lastUsedAt: Nullable(Time),
};

/** A key of a tenant, without its secret (CONTRACT 12). */
export const Key = Type.Object(keyMembers);
export type Key = Static<typeof Key>;

/** `GET /v1/keys`: the valid keys, newest first. */
export const KeyList = Type.Object({ data: Type.Array(Key) });
export type KeyList = Static<typeof KeyList>;

/** The body of `POST /v1/keys`. The defaults are all scopes, any address and no expiry. */
export const KeyRequest = Type.Object(
  {
    scopes: Type.Optional(Type.Array(Type.Enum(keyScopes), { minItems: 1, uniqueItems: true })),
    addresses: Type.Optional(
      Type.Array(Type.String({ format: cidrFormat, maxLength: cidrLengthMax }), {
        maxItems: keyAddressesMax,
        uniqueItems: true,
      }),
    ),
    expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: keyExpiresInDaysMax })),
  },
  { additionalProperties: false },
);
export type KeyRequest = Static<typeof KeyRequest>;

/** The answer of `POST /v1/keys`. No other answer shows the secret. */
export const KeyCreated = Type.Object({ ...keyMembers, hmacSecret: Type.String() });
export type KeyCreated = Static<typeof KeyCreated>;
