import type { Store } from '../connection/store.ts';
import type { AuditEntry, Prisma } from '../generated/client.ts';

/**
 * `actorId` is a UUID, but `subjectId` is a wire id or a name (`AuditedChange`). `actorName` is the
 * current name of the operator or tenant, or the name of a `local` actor.
 */
export interface AuditRecord extends AuditEntry {
  /** The wire id of the key that signed the request of a tenant. Null for other changes. */
  keyId: string | null;
}

/** A null field does not filter. */
export interface AuditFilter {
  /** The UUID of an operator or a tenant. */
  actorId: string | null;
  action: string | null;
  subjectId: string | null;
  /** Inclusive. */
  since: Date | null;
  /** Exclusive. */
  until: Date | null;
  /** Only entries that are older than the entry with this id. */
  beforeId: bigint | null;
  limit: number;
}

const subjectKinds = [
  'tenant',
  'operator',
  'node',
  'purchase',
  'submission',
  'delivery',
  'service',
];

/**
 * A page of the audit log, newest first. The filters by actor, action and subject have an index
 * each.
 */
export async function listAudit({ db }: Store, filter: AuditFilter): Promise<AuditRecord[]> {
  const entries = await db.auditEntry.findMany({
    where: conditionsOf(filter),
    orderBy: { id: 'desc' },
    take: filter.limit,
  });
  const actorIds = [...new Set(entries.flatMap(({ actorId }) => actorId ?? []))];
  const named = { where: { id: { in: actorIds } }, select: { id: true, name: true } };
  const [operators, tenants] = await Promise.all([
    db.operator.findMany(named),
    db.tenant.findMany(named),
  ]);
  const names = new Map([...operators, ...tenants].map(({ id, name }) => [id, name]));
  return entries.map((entry) => ({
    ...entry,
    actorName: names.get(entry.actorId ?? '') ?? (isTenant(entry) ? null : entry.actorName),
    keyId: isTenant(entry) ? entry.actorName : null,
  }));
}

/**
 * True if a tenant made the change. The stored `actorName` is then the wire id of the key that
 * signed the request, or null.
 */
function isTenant({ actorKind }: Pick<AuditEntry, 'actorKind'>): boolean {
  return actorKind === 'tenant';
}

function conditionsOf(filter: AuditFilter): Prisma.AuditEntryWhereInput {
  const { actorId, action, subjectId, since, until, beforeId } = filter;
  return {
    // The indexes for `actorId` and `subjectId` begin with the kind. Postgres can search these
    // indexes because each condition lists all kinds that have an id.
    ...(actorId === null ? {} : { actorKind: { in: ['operator', 'tenant'] }, actorId }),
    ...(action === null ? {} : { action }),
    ...(subjectId === null ? {} : { subjectKind: { in: subjectKinds }, subjectId }),
    at: { ...(since === null ? {} : { gte: since }), ...(until === null ? {} : { lt: until }) },
    ...(beforeId === null ? {} : { id: { lt: beforeId } }),
  };
}
