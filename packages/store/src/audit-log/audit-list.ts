import { Prisma } from '../generated/client.ts';
import type { Store } from '../connection/store.ts';

/** A change as the audit log records it. */
export interface AuditRecord {
  id: bigint;
  at: Date;
  actorKind: 'operator' | 'tenant' | 'local' | 'signup';
  /** UUID. */
  actorId: string | null;
  /** The current name of the operator or tenant, or the name of the account on the machine. */
  actorName: string | null;
  action: string;
  subjectKind: string;
  /** In wire form. */
  subjectId: string | null;
  before: unknown;
  after: unknown;
  requestId: string | null;
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
  /** Older than this entry. */
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

/** A page of the audit log, newest first. Each filter is served by an index. */
export async function listAudit(store: Store, filter: AuditFilter): Promise<AuditRecord[]> {
  const { actorId, action, subjectId, since, until, beforeId } = filter;
  const conditions = [
    Prisma.sql`true`,
    ...(actorId === null
      ? []
      : [Prisma.sql`l.actor_kind IN ('operator', 'tenant') AND l.actor_id = ${actorId}::uuid`]),
    ...(action === null ? [] : [Prisma.sql`l.action = ${action}`]),
    ...(subjectId === null
      ? []
      : [
          Prisma.sql`l.subject_kind = ANY(${subjectKinds}::text[]) AND l.subject_id = ${subjectId}`,
        ]),
    ...(since === null ? [] : [Prisma.sql`l.at >= ${since}::timestamptz`]),
    ...(until === null ? [] : [Prisma.sql`l.at < ${until}::timestamptz`]),
    ...(beforeId === null ? [] : [Prisma.sql`l.id < ${beforeId}::bigint`]),
  ];
  return store.db.$queryRaw<AuditRecord[]>`
    SELECT l.id, l.at, l.actor_kind AS "actorKind", l.actor_id AS "actorId",
      COALESCE(l.actor_name, o.name, t.name) AS "actorName", l.action,
      l.subject_kind AS "subjectKind", l.subject_id AS "subjectId", l.before, l.after,
      l.request_id AS "requestId"
    FROM audit_log l
    LEFT JOIN operators o ON l.actor_kind = 'operator' AND o.id = l.actor_id
    LEFT JOIN tenants t ON l.actor_kind = 'tenant' AND t.id = l.actor_id
    WHERE ${Prisma.join(conditions, ' AND ')}
    ORDER BY l.id DESC LIMIT ${filter.limit}`;
}
