import { type DeliveryStatus, toWireId } from '@svc/domain';
import { type Author, insertAudit } from '../audit-log/audit.ts';
import { attemptUnderWay } from './redelivery.ts';
import { Prisma } from '../generated/client.ts';
import type { Store } from '../connection/store.ts';

/** Sending again in bulk, for operators: stored bytes only, and no money moves. */

export interface Recovery {
  /** Deliveries whose events happened at that time or later. */
  since: Date;
  /** Of this tenant only. */
  tenantId: string | null;
  /** What ended without having arrived: `exhausted`, or `dropped` too. */
  statuses: readonly Extract<DeliveryStatus, 'exhausted' | 'dropped'>[];
}

/** A delivery, by the order in which a recovery goes. */
export interface RecoveryPlace {
  createdAt: Date;
  id: string;
}

// Literals, so that the planner sees which partial index holds them.
const statusCondition = {
  exhausted: Prisma.sql`d.status = 'exhausted'`,
  dropped: Prisma.sql`d.status = 'dropped'`,
};

/** What a recovery finds: deliveries to tenants that have a URL now. */
function found({ since, tenantId, statuses }: Recovery): Prisma.Sql {
  const conditions = [
    // The time in the id is a host's, and is not looked at.
    Prisma.sql`d.created_at >= ${since}::timestamptz`,
    Prisma.sql`(${Prisma.join(
      statuses.map((status) => statusCondition[status]),
      ' OR ',
    )})`,
    Prisma.sql`t.webhook_url IS NOT NULL AND t.webhook_disabled_at IS NULL`,
    Prisma.sql`NOT ${attemptUnderWay}`,
    ...(tenantId === null ? [] : [Prisma.sql`d.tenant_id = ${tenantId}::uuid`]),
  ];
  return Prisma.sql`FROM deliveries d JOIN tenants t ON t.id = d.tenant_id
    WHERE ${Prisma.join(conditions, ' AND ')}`;
}

/** How many deliveries a recovery would send again. */
export async function countRecoverable(store: Store, recovery: Recovery): Promise<number> {
  const [row] = await store.db.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count ${found(recovery)}`;
  return row?.count ?? 0;
}

/**
 * Makes up to `limit` of those behind `after` due now, the oldest first, each in a fresh round of
 * attempts under the same id, and writes the audit log with it; deliverers find them within a
 * second. What is recovered is found no more, so that a recovery that was broken off goes on where
 * it was when it is run again. One whose attempt is still under way is left for later. Null at the
 * end.
 */
export async function recoverDeliveries(
  store: Store,
  recovery: Recovery,
  { after, limit }: { after: RecoveryPlace | null; limit: number },
  by: Author,
): Promise<{ count: number; last: RecoveryPlace } | null> {
  return store.db.$transaction(async (tx) => {
    const rows = await tx.$queryRaw<{ id: string; status: string; createdAt: Date }[]>`
      WITH picked AS MATERIALIZED (
        SELECT d.id, d.status ${found(recovery)} AND (d.created_at, d.id) > (
          COALESCE(${after?.createdAt ?? null}::timestamptz, '-infinity'),
          COALESCE(${after?.id ?? null}::uuid, '00000000-0000-0000-0000-000000000000'))
        ORDER BY d.created_at, d.id LIMIT ${limit} FOR UPDATE OF d SKIP LOCKED
      )
      UPDATE deliveries d SET status = 'pending', next_attempt_at = svc_now(), finished_at = NULL,
        round = d.round + 1, round_started_at = svc_now(), attempt_count = 0
      FROM picked p WHERE d.id = p.id AND d.id = ANY(ARRAY(SELECT id FROM picked))
      RETURNING d.id, p.status, d.created_at AS "createdAt"`;
    const places = rows.toSorted(byPlace);
    const [first, last] = [places[0], places.at(-1)];
    if (first === undefined || last === undefined) return null;
    await insertAudit(tx, by, {
      action: 'delivery.recover',
      subject: { kind: 'service', id: 'webhooks' },
      before: { statuses: [...new Set(rows.map(({ status }) => status))].toSorted() },
      after: {
        count: places.length,
        first: toWireId('dlv', first.id),
        last: toWireId('dlv', last.id),
        since: recovery.since.toISOString(),
      },
    });
    return { count: places.length, last: { createdAt: last.createdAt, id: last.id } };
  });
}

function byPlace(a: RecoveryPlace, b: RecoveryPlace): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}
