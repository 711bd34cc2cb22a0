import { type DeliveryStatus, toWireId } from '@svc/domain';
import { appendAudit, type Author } from '../audit-log/audit.ts';
import type { Store } from '../connection/store.ts';
import { Prisma } from '../generated/client.ts';
import { beginRound } from './deliveries.ts';
import { attemptInFlight } from './redelivery.ts';

/** `svc webhook recover`: makes exhausted or dropped deliveries due again. Moves no money. */

export interface Recovery {
  /** Only deliveries that were created at this time or later are made due. */
  since: Date;
  /** Null: all tenants. */
  tenantId: string | null;
  statuses: readonly Extract<DeliveryStatus, 'exhausted' | 'dropped'>[];
}

export interface RecoveryPlace {
  createdAt: Date;
  id: string;
}

// The statuses are literals, because with parameters the planner could not use the partial index
// `deliveries_recoverable_idx` (decision 25).
const statusCondition = {
  exhausted: Prisma.sql`d.status = 'exhausted'`,
  dropped: Prisma.sql`d.status = 'dropped'`,
};

function found({ since, tenantId, statuses }: Recovery): Prisma.Sql {
  const conditions = [
    // The condition compares `created_at`, which is the database's time, and not the time in the
    // id, because that time may come from a host's clock.
    Prisma.sql`d.created_at >= ${since}::timestamptz`,
    Prisma.sql`(${Prisma.join(
      statuses.map((status) => statusCondition[status]),
      ' OR ',
    )})`,
    // Deliveries of an endpoint of the kind `poll` are not recovered. Such an endpoint has no URL,
    // because the tenant reads the events itself.
    Prisma.sql`CASE WHEN d.target_id IS NULL THEN t.webhook_url IS NOT NULL AND t.webhook_disabled_at IS NULL
      ELSE w.kind = 'push' AND w.disabled_at IS NULL AND w.retired_at IS NULL END`,
    Prisma.raw(`NOT ${attemptInFlight}`),
    ...(tenantId === null ? [] : [Prisma.sql`d.tenant_id = ${tenantId}::uuid`]),
  ];
  return Prisma.sql`FROM deliveries d JOIN tenants t ON t.id = d.tenant_id
    LEFT JOIN webhook_endpoints w ON w.id = d.target_id
    WHERE ${Prisma.join(conditions, ' AND ')}`;
}

export async function countRecoverable(store: Store, recovery: Recovery): Promise<number> {
  const { text, values } = Prisma.sql`SELECT count(*)::int AS count ${found(recovery)}`;
  const [row] = await store.query<{ count: number }>(text, values);
  return row?.count ?? 0;
}

/**
 * Makes a page of deliveries due again in new rounds, but skips locked ones. Pass `last` as `after`
 * to the next call, until a call finds none and returns null.
 */
export async function recoverDeliveries(
  store: Store,
  recovery: Recovery,
  { after, limit }: { after: RecoveryPlace | null; limit: number },
  by: Author,
): Promise<{ count: number; tenantIds: string[]; last: RecoveryPlace } | null> {
  const { text, values } = Prisma.sql`
    WITH picked AS MATERIALIZED (
      SELECT d.id, d.status ${found(recovery)} AND (d.created_at, d.id) > (
        COALESCE(${after?.createdAt ?? null}::timestamptz, '-infinity'),
        COALESCE(${after?.id ?? null}::uuid, '00000000-0000-0000-0000-000000000000'))
      ORDER BY d.created_at, d.id LIMIT ${limit} FOR UPDATE OF d SKIP LOCKED
    )
    UPDATE deliveries d SET status = CASE WHEN d.target_id IS NULL THEN 'pending' ELSE 'queued' END,
      ${Prisma.raw(beginRound)}
    FROM picked p WHERE d.id = p.id AND d.id = ANY(ARRAY(SELECT id FROM picked))
    RETURNING d.id, d.tenant_id AS "tenantId", p.status, d.created_at AS "createdAt"`;
  return store.transaction(async (query) => {
    const rows = await query<RecoveryPlace & { tenantId: string; status: string }>(text, values);
    const places = rows.toSorted(byPlace);
    const [first, last] = [places[0], places.at(-1)];
    if (first === undefined || last === undefined) return null;
    await appendAudit(query, by, {
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
    const tenantIds = [...new Set(rows.map(({ tenantId }) => tenantId))];
    return { count: rows.length, tenantIds, last: { createdAt: last.createdAt, id: last.id } };
  });
}

function byPlace(a: RecoveryPlace, b: RecoveryPlace): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}
