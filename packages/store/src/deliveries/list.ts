import type { DeliveryStatus, EventType } from '@svc/domain';
import type { Store } from '../connection/store.ts';
import { Prisma } from '../generated/client.ts';
import { responsePlace, unsealText } from '../sealing/sealed.ts';
import { deliveryStatusOf, type StoredDeliveryStatus } from './deliveries.ts';

/**
 * One attempt of the current round. All nullable fields are null until the result of the attempt is
 * recorded.
 */
export interface AttemptLine {
  number: number;
  at: Date;
  statusCode: number | null;
  durationMs: number | null;
  error: string | null;
  response: string | null;
}

/** Everything a tenant may see of a delivery (CONTRACT 5). */
export interface DeliveryRecord {
  id: string;
  tenantId: string;
  /** Null if the delivery goes to the current or a former URL of the tenant's settings. */
  endpointId: string | null;
  eventId: string;
  type: EventType;
  status: DeliveryStatus;
  attempts: AttemptLine[];
  nextAttemptAt: Date | null;
  createdAt: Date;
}

export interface DeliveryFilter {
  status: DeliveryStatus | null;
  /** The id of the last delivery of the previous page. Null for the first page. */
  afterId: string | null;
  limit: number;
}

interface DeliveryRow {
  id: string;
  tenant_id: string;
  endpoint_id: string | null;
  event_id: string;
  type: EventType;
  status: StoredDeliveryStatus;
  next_attempt_at: Date | null;
  created_at: Date;
  /** `response` is sealed and in base64. */
  attempts: (Omit<AttemptLine, 'at'> & { atMs: number; round: number })[] | null;
}

const deliveryColumns = `d.id, d.tenant_id, d.endpoint_id, d.event_id, d.type, d.status, d.next_attempt_at, d.created_at, (
    SELECT jsonb_agg(jsonb_build_object('number', a.number,
      'atMs', (extract(epoch FROM a.at) * 1000)::bigint, 'statusCode', a.status_code,
      'durationMs', a.duration_ms, 'error', a.error, 'round', a.round, 'response', encode(a.response_sealed, 'base64')) ORDER BY a.number)
    FROM delivery_attempts a WHERE a.delivery_id = d.id AND a.round = d.round
  ) AS attempts`;

// The statuses are literals, because with parameters the planner could not use the partial index
// `deliveries_undelivered_idx` (decision 25).
const statusConditions: Record<DeliveryStatus, readonly Prisma.Sql[]> = {
  pending: [
    Prisma.sql`d.status = 'pending'`,
    Prisma.sql`d.status = 'queued'`,
    Prisma.sql`d.status = 'waiting'`,
  ],
  delivered: [Prisma.sql`d.status = 'delivered'`],
  exhausted: [Prisma.sql`d.status = 'exhausted'`],
  dropped: [Prisma.sql`d.status = 'dropped'`],
};

/**
 * A page of a tenant's deliveries, newest first. With `tenantId` null, the page has the deliveries
 * of all tenants.
 */
export async function listDeliveries(
  store: Store,
  tenantId: string | null,
  { status, afterId, limit }: DeliveryFilter,
): Promise<DeliveryRecord[]> {
  const conditions = [
    ...(tenantId === null ? [] : [Prisma.sql`d.tenant_id = ${tenantId}::uuid`]),
    ...(afterId === null ? [] : [Prisma.sql`d.id < ${afterId}::uuid`]),
  ];
  // `pending` stands for three stored statuses. The statement reads a page of each, because the
  // index sorts by id only within one stored status.
  const pages = (status === null ? [Prisma.sql`true`] : statusConditions[status]).map(
    (condition) => Prisma.sql`(SELECT d.* FROM deliveries d
      WHERE ${Prisma.join([condition, ...conditions], ' AND ')} ORDER BY d.id DESC LIMIT ${limit})`,
  );
  const { text, values } = Prisma.sql`
    SELECT ${Prisma.raw(deliveryColumns)} FROM (${Prisma.join(pages, ' UNION ALL ')}) d
    ORDER BY d.id DESC LIMIT ${limit}`;
  const rows = await store.query<DeliveryRow>(text, values);
  return rows.map((row) => deliveryOfRow(store, row));
}

/**
 * Finds a delivery of the tenant, or of any tenant if `tenantId` is null. Null if there is no such
 * delivery.
 */
export async function findDelivery(
  store: Store,
  tenantId: string | null,
  id: string,
): Promise<DeliveryRecord | null> {
  const [row] = await store.query<DeliveryRow>(
    `SELECT ${deliveryColumns} FROM deliveries d
     WHERE d.id = $1::uuid AND ($2::uuid IS NULL OR d.tenant_id = $2::uuid)`,
    [id, tenantId],
  );
  return row === undefined ? null : deliveryOfRow(store, row);
}

function deliveryOfRow(store: Store, row: DeliveryRow): DeliveryRecord {
  const { id: deliveryId, tenant_id: tenantId } = row;
  return {
    id: row.id,
    tenantId: row.tenant_id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    type: row.type,
    status: deliveryStatusOf(row.status),
    attempts: (row.attempts ?? []).map(({ atMs, round, response, ...line }) => ({
      ...line,
      at: new Date(atMs),
      response:
        response === null
          ? null
          : unsealText(
              store.sealer,
              responsePlace({ tenantId, deliveryId, round, number: line.number }),
              Buffer.from(response, 'base64'),
            ),
    })),
    nextAttemptAt: row.next_attempt_at,
    createdAt: row.created_at,
  };
}
