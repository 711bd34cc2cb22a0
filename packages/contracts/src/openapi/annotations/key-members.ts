import * as examples from './examples.ts';

export const keyMembers: Readonly<
  Record<string, readonly [description: string, example: unknown]>
> = {
  keyId: ['The id of the key. Send it in `X-SVC-Key`.', examples.keyId],
  scopes: [
    'The scopes of the key. `read`: all reads, and quotes. `spend`: creations, cancels and purchase intents. `settings`: all other changes, such as of settings, webhooks and keys.',
    ['read'],
  ],
  addresses: [
    'The CIDR blocks that requests must come from. If empty, any address is allowed.',
    ['203.0.113.0/24'],
  ],
  expiresInDays: ['The days until the key expires. If omitted, the key never expires.', 90],
  'Key.expiresAt': [
    'The time at which the key expires. Null if it never expires.',
    examples.key.expiresAt,
  ],
  'KeyCreated.expiresAt': [
    'The time at which the key expires. Null if it never expires.',
    examples.key.expiresAt,
  ],
  lastUsedAt: ['The minute of the last use. Null if no use is known.', examples.key.lastUsedAt],
  'AuditEntry.by': ['Who made the change.', examples.auditEntry.by],
  'ChangeAuthor.keyId': [
    'The id of the key that signed the request for the change. Null if no key is recorded.',
    examples.keyId,
  ],
  'AuditEntry.at': ['The time of the change.', examples.auditEntry.at],
  before: [
    'The values before the change. For settings: those that the change names. For an endpoint: `endpointId`, `kind`, `url`, `events` and `description`. For a key: `keyId`, `scopes`, `addresses` and `expiresAt`. For a rotated secret of a webhook endpoint: the id of the endpoint. For any other rotated secret: the number of valid secrets of its kind. Null for a creation.',
    null,
  ],
  'AuditEntry.after': [
    'The values after the change. For settings: those that the change names. For an endpoint or key: the members that the description of `before` names. For a rotated secret: members such as `overlapMs` (the milliseconds for which the previous secret stays valid). Null for a deletion.',
    examples.auditEntry.after,
  ],
  'AuditEntry.requestId': [
    'The id of the request, or of the command of the operator, that made the change. Null if the service made it by itself.',
    examples.requestId,
  ],
};
