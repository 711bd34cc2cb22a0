import { tenantChangeNames } from '@svc/domain';
import { Type, type Static } from 'typebox';
import { Nullable, pageParameters, PageOf, Time, WireId } from './common.ts';

/** Who made a change: the tenant, an operator, or `svc` without an operator's key (CONTRACT 12). */
export const ChangeAuthor = Type.Object({
  /**
   * The key that signed the change. Null if the entry does not record a key, as in old entries.
   * Omitted if `operator` is present.
   */
  keyId: Type.Optional(Nullable(WireId('key'))),
  /**
   * An operator's id, or `local` if `svc` made the change without an operator's key. Omitted if a
   * tenant made the change.
   */
  operator: Type.Optional(Type.String()),
});

/**
 * The values before or after the change (CONTRACT 12). Null before a creation and after a deletion.
 */
const ChangedMembers = Nullable(Type.Object({}));

/** One change of the settings, secrets, webhook endpoints or keys of a tenant (CONTRACT 12). */
export const AuditEntry = Type.Object({
  what: Type.Enum(Object.values(tenantChangeNames)),
  by: ChangeAuthor,
  at: Time,
  before: ChangedMembers,
  after: ChangedMembers,
  requestId: Nullable(Type.String()),
});
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditPage = PageOf(AuditEntry);
export type AuditPage = Static<typeof AuditPage>;

export const AuditQuery = Type.Object(pageParameters, { additionalProperties: false });
export type AuditQuery = Static<typeof AuditQuery>;
