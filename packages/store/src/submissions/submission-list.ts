import type { SubmissionState, WireStatus } from '@svc/domain';
import { Prisma } from '../generated/client.ts';
import type { Store } from '../connection/store.ts';
import {
  recordColumns,
  recordOfRow,
  type RecordRow,
  type SubmissionRecord,
} from './submissions.ts';

/** Which submissions, and where the page begins; null: not asked for. */
export interface SubmissionFilter {
  status: WireStatus | null;
  idempotencyKey: string | null;
  /** Inclusive. */
  createdAfter: Date | null;
  /** Exclusive. */
  createdBefore: Date | null;
  /** Behind this one, which the page before ended with. */
  after: { createdAt: Date; id: string } | null;
  limit: number;
}

// States as literals, so that the planner sees which partial index holds them.
const stateCondition: Record<WireStatus, Prisma.Sql> = {
  pending: stateIs('pending'),
  dispatched: stateIs('dispatched'),
  running: Prisma.sql`state IN ('running', 'settling')`,
  submitted: stateIs('submitted'),
  failed: stateIs('failed'),
  cancelled: stateIs('cancelled'),
};

function stateIs(state: SubmissionState): Prisma.Sql {
  return Prisma.raw(`state = '${state}'`);
}

/**
 * A page of a tenant's submissions, newest first (CONTRACT 5); rejected creations are
 * none. Every combination of filters has a text of its own, and an index that it goes along.
 */
export async function listSubmissions(
  store: Store,
  tenantId: string,
  filter: SubmissionFilter,
): Promise<SubmissionRecord[]> {
  const { status, idempotencyKey, createdAfter, createdBefore, after } = filter;
  const conditions = [
    Prisma.sql`tenant_id = ${tenantId}::uuid AND state <> 'rejected'`,
    ...(status === null ? [] : [stateCondition[status]]),
    ...(idempotencyKey === null ? [] : [Prisma.sql`idempotency_key = ${idempotencyKey}`]),
    ...(createdAfter === null ? [] : [Prisma.sql`created_at >= ${createdAfter}::timestamptz`]),
    ...(createdBefore === null ? [] : [Prisma.sql`created_at < ${createdBefore}::timestamptz`]),
    ...(after === null
      ? []
      : [Prisma.sql`(created_at, id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`]),
  ];
  const rows = await store.db.$queryRaw<RecordRow[]>`
    SELECT ${recordColumns} FROM submissions WHERE ${Prisma.join(conditions, ' AND ')}
    ORDER BY created_at DESC, id DESC LIMIT ${filter.limit}`;
  return rows.map((row) => recordOfRow(store, row));
}
