import {
  isTenantAction,
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

/** A change of a tenant's settings, webhook endpoints or keys. */
export interface TenantChange {
  readonly tenantId: string;
  readonly action: TenantAction;
  /**
   * What was changed, with names as on the wire. The tenant reads both. They hold no secrets, and a
   * URL without its query (`withoutQuery`). An endpoint or key is named by `endpointId` or `keyId`.
   */
  readonly before: object | null;
  readonly after: object | null;
}

/**
 * Records a change of a tenant's settings, webhook endpoints or keys, in the transaction of the
 * change (CONTRACT 12). Every such change calls this function, so that `GET /v1/audit` is complete.
 */
export async function recordTenantChange(
  query: Query,
  by: Author,
  { tenantId, action, before, after }: TenantChange,
): Promise<void> {
  const subject = { kind: 'tenant', id: toWireId('tnt', tenantId) } as const;
  await appendAudit(query, by, { action, subject, before, after });
}

/** Who made a change, as its tenant sees it. An account on the sandbox's machine is `local`. */
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
 * A page of a tenant's changes, newest first, older than the entry `beforeId`. Reads one range of the
 * index by subject.
 */
export async function listTenantChanges(
  { db }: Store,
  { tenantId, beforeId, limit }: { tenantId: string; beforeId: bigint | null; limit: number },
): Promise<TenantAuditEntry[]> {
  const entries = await db.auditEntry.findMany({
    where: {
      subjectKind: 'tenant',
      subjectId: toWireId('tnt', tenantId),
      action: { in: [...tenantActions] },
      ...(beforeId === null ? {} : { id: { lt: beforeId } }),
    },
    orderBy: { id: 'desc' },
    take: limit,
  });
  return entries.flatMap(({ id, action, at, before, after, requestId, ...actor }) =>
    isTenantAction(action)
      ? [{ id, what: tenantChangeNames[action], by: byOf(actor), at, before, after, requestId }]
      : [],
  );
}

function byOf(actor: {
  actorKind: string;
  actorId: string | null;
  actorName: string | null;
}): SettingsChangedBy {
  if (actor.actorKind === 'tenant') return { keyId: actor.actorName };
  return { operator: actor.actorId === null ? 'local' : toWireId('op', actor.actorId) };
}
