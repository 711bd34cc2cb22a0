import {
  type SettingsChangedBy,
  type TenantAction,
  tenantActions,
  type TenantChangeName,
  tenantChangeNames,
  toWireId,
} from '@svc/domain';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { type Actor, appendAudit, type Author } from './audit.ts';

/**
 * The tenant can read `before` and `after`. Name their members as on the wire. Leave out secrets,
 * and use `withoutQuery` for URLs.
 */
export interface TenantChange {
  readonly tenantId: string;
  readonly action: TenantAction;
  /** Null for a creation. */
  readonly before: object | null;
  /** Null for a deletion. */
  readonly after: object | null;
}

/**
 * Call this for every change of settings, webhook endpoints or keys (CONTRACT 12). Pass the `query`
 * of the transaction that makes the change.
 */
export async function recordTenantChange(
  query: Query,
  by: Author,
  { tenantId, action, before, after }: TenantChange,
): Promise<void> {
  const subject = { kind: 'tenant', id: toWireId('tnt', tenantId) } as const;
  await appendAudit(query, by, { action, subject, before, after });
}

/**
 * The author of a change, as the tenant sees it. `keyId` is null for a sign-up, and for an actor
 * `tenant` without a `keyId`.
 */
export function changedBy(actor: Actor): SettingsChangedBy {
  if (actor.kind === 'operator') return { operator: toWireId('op', actor.id) };
  if (actor.kind === 'local') return { operator: 'local' };
  if (actor.kind === 'signup' || actor.keyId === undefined) return { keyId: null };
  return { keyId: toWireId('key', actor.keyId) };
}

export interface TenantAuditEntry {
  id: bigint;
  what: TenantChangeName;
  by: SettingsChangedBy;
  at: Date;
  before: unknown;
  after: unknown;
  requestId: string | null;
}

/**
 * Returns at most `limit` changes of a tenant, newest first. If `beforeId` is not null, all of them
 * are older than the entry with this id.
 */
export async function listTenantChanges(
  { query }: Store,
  { tenantId, beforeId, limit }: { tenantId: string; beforeId: bigint | null; limit: number },
): Promise<TenantAuditEntry[]> {
  const entries = await query<AuditRow>(
    `SELECT id, at, action, actor_kind AS "actorKind", actor_id AS "actorId", actor_name AS "actorName",
       before, after, request_id AS "requestId"
     FROM audit_log
     WHERE subject_kind = 'tenant' AND subject_id = $1 AND action = ANY($2::text[])
       AND id < COALESCE($3::bigint, 9223372036854775807)
     ORDER BY id DESC LIMIT $4`,
    [toWireId('tnt', tenantId), tenantActions, beforeId, limit],
  );
  return entries.map(({ id, action, at, before, after, requestId, ...actor }) => {
    const what = tenantChangeNames[action];
    return { id, what, by: byOf(actor), at, before, after, requestId };
  });
}

interface AuditRow {
  readonly id: bigint;
  readonly at: Date;
  readonly action: TenantAction;
  readonly actorKind: string;
  readonly actorId: string | null;
  readonly actorName: string | null;
  readonly before: unknown;
  readonly after: unknown;
  readonly requestId: string | null;
}

function byOf(actor: {
  actorKind: string;
  actorId: string | null;
  actorName: string | null;
}): SettingsChangedBy {
  if (actor.actorKind === 'tenant') return { keyId: actor.actorName };
  return { operator: actor.actorId === null ? 'local' : toWireId('op', actor.actorId) };
}
