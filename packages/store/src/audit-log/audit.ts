import { toWireId } from '@svc/domain';
import type { Query } from '../connection/query.ts';

/** Who makes a change. Ids are UUIDs. */
export type Actor =
  | { readonly kind: 'operator'; readonly id: string }
  /** `keyId`: the key that signed the request. Omitted for a change without a request. */
  | { readonly kind: 'tenant'; readonly id: string; readonly keyId?: string }
  /**
   * A program that has the master key, such as `svc` without an operator's key. `name` is the user
   * who runs it, or the service.
   */
  | { readonly kind: 'local'; readonly name: string }
  | { readonly kind: 'signup' };

/**
 * `requestId` is the id of the request, or of the call of `svc`. Null for a change that a service
 * makes by itself.
 */
export interface Author {
  readonly actor: Actor;
  readonly requestId: string | null;
}

/**
 * A change, a reading of personal data, or a finding about the audit log. `before` and `after`
 * contain no secrets and no personal data of applicants.
 */
export interface AuditedChange {
  /** A noun, a dot, and the act or finding, such as `tenant.disable` or `audit.head_missing`. */
  readonly action: string;
  readonly subject: {
    readonly kind:
      | 'tenant'
      | 'operator'
      | 'node'
      | 'purchase'
      | 'submission'
      | 'delivery'
      | 'service';
    /**
     * The subject's id in wire form. For the kind `service` it is a name, such as `surge` or
     * `log-level:gateway`.
     */
    readonly id: string;
  };
  /**
   * In a change of a tenant's settings, endpoints or keys, the members of `before` and `after` have
   * their names on the wire.
   */
  readonly before: object | null;
  readonly after: object | null;
}

/**
 * Appends an entry to the audit log. If the entry is about a change, `query` must belong to the
 * transaction that makes the change.
 */
export async function appendAudit(
  query: Query,
  { actor, requestId }: Author,
  { action, subject, before, after }: AuditedChange,
): Promise<void> {
  await query(
    `INSERT INTO audit_log (at, actor_kind, actor_id, actor_name, action, subject_kind, subject_id,
       before, after, request_id)
     VALUES (svc_now(), $1, $2::uuid, $3, $4, $5, $6, $7::jsonb, $8::jsonb, $9)`,
    [
      actor.kind,
      'id' in actor ? actor.id : null,
      actorNameOf(actor),
      action,
      subject.kind,
      subject.id,
      jsonOf(before),
      jsonOf(after),
      requestId,
    ],
  );
}

function actorNameOf(actor: Actor): string | null {
  if (actor.kind === 'local') return actor.name;
  if (actor.kind !== 'tenant' || actor.keyId === undefined) return null;
  return toWireId('key', actor.keyId);
}

function jsonOf(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

export function operatorIdOf({ actor }: Author): string | null {
  return actor.kind === 'operator' ? actor.id : null;
}

/** Replaces the query of a URL by `?…` for the audit log. A query may contain a tenant's token. */
export function withoutQuery(url: string): string {
  return url.replace(/\?[^]*$/, '?…');
}
