import { type DeliveryStatus, toWireId } from '@svc/domain';
import { type Author, insertAudit } from './audit.ts';
import { attemptUnderWay } from './redelivery.ts';
import { Prisma } from './generated/client.ts';
import type { Store } from './store.ts';

/** Sending again in bulk, for operators: stored bytes only, and no money moves. */

export interface Recovery {
  /** Deliveries whose events happened at that time or later. */
  since: Date;
  /** Of this tenant only. */
  tenantId: string | null;
  /** What ended without having arrived: `exhausted`, or `dropped` too. */
  statuses: readonly Extract<DeliveryStatus, 'exhausted' | 'dropped'>[];
}

// Literals, so that the planner sees which partial index holds them.
const statusCondition = {
  exhausted: Prisma.sql`d.status = 'exhausted'`,
  dropped: Prisma.sql`d.status = 'dropped'`,
};

/** What a recovery finds: deliveries to tenants that have a URL now. */
function found({ since, tenantId, statuses }: Recovery): Prisma.Sql {
  const conditions = [
    // The id begins with the time, so that older partitions are left alone.
    Prisma.sql`d.id >= svc_uuid_floor(${since}::timestamptz)`,
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
 * Makes up to `limit` of those behind `afterId` due now, the oldest first, each in a fresh round of
 * attempts under the same id, and writes the audit log with it; deliverers find them within a
 * second. What is recovered is found no more, so that a recovery that was broken off goes on where
 * it was when it is run again. One whose attempt is still under way is left for later. Null at the
 * end.
 */
export async function recoverDeliveries(
  store: Store,
  recovery: Recovery,
  { afterId, limit }: { afterId: string | null; limit: number },
  by: Author,
): Promise<{ count: number; lastId: string } | null> {
  return store.db.$transaction(async (tx) => {
    const rows = await tx.$queryRaw<{ id: string; status: string }[]>`
      WITH picked AS MATERIALIZED (
        SELECT d.id, d.status ${found(recovery)} AND d.id > COALESCE(${afterId}::uuid, '00000000-0000-0000-0000-000000000000')
        ORDER BY d.id LIMIT ${limit} FOR UPDATE OF d SKIP LOCKED
      )
      UPDATE deliveries d SET status = 'pending', next_attempt_at = svc_now(), finished_at = NULL,
        round = d.round + 1, round_started_at = svc_now(), attempt_count = 0
      FROM picked p WHERE d.id = p.id AND d.id = ANY(ARRAY(SELECT id FROM picked))
      RETURNING d.id, p.status`;
    const ids = rows.map(({ id }) => id).toSorted();
    const [first, last] = [ids[0], ids.at(-1)];
    if (first === undefined || last === undefined) return null;
    await insertAudit(tx, by, {
      action: 'delivery.recover',
      subject: { kind: 'service', id: 'webhooks' },
      before: { statuses: [...new Set(rows.map(({ status }) => status))].toSorted() },
      after: {
        count: ids.length,
        first: toWireId('dlv', first),
        last: toWireId('dlv', last),
        since: recovery.since.toISOString(),
      },
    });
    return { count: ids.length, lastId: last };
  });
}
