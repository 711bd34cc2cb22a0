import type { SubmissionState, WireStatus } from '@svc/domain';
import type { Store } from '../connection/store.ts';
import { Prisma } from '../generated/client.ts';
import {
  inFlightStates,
  isInState,
  isNotRejected,
  statesShownAs,
} from '../schema/submission-states.ts';
import {
  recordColumns,
  recordOfRow,
  type RecordRow,
  type SubmissionRecord,
} from './submissions.ts';

/** A null field does not filter. */
export interface SubmissionFilter {
  status: WireStatus | null;
  idempotencyKey: string | null;
  /** Inclusive. */
  createdAfter: Date | null;
  /** Exclusive. */
  createdBefore: Date | null;
  /** The last submission of the previous page. Null for the first page. */
  after: { createdAt: Date; id: string } | null;
  limit: number;
}

/** A page of a tenant's submissions, newest first, without rejected ones (CONTRACT 5). */
export async function listSubmissions(
  store: Store,
  tenantId: string,
  filter: SubmissionFilter,
): Promise<SubmissionRecord[]> {
  const { status, idempotencyKey, createdAfter, createdBefore, after } = filter;
  const states = status === null ? null : statesShownAs(status);
  const conditions = [
    Prisma.sql`tenant_id = ${tenantId}::uuid AND ended_otherwise ${Prisma.raw(isNotRejected)}`,
    ...(states === null ? [] : [Prisma.raw(`(${states.map(isInState).join(' OR ')})`)]),
    ...(idempotencyKey === null ? [] : [Prisma.sql`idempotency_key = ${idempotencyKey}`]),
    ...(createdAfter === null ? [] : [Prisma.sql`created_at >= ${createdAfter}::timestamptz`]),
    ...(createdBefore === null ? [] : [Prisma.sql`created_at < ${createdBefore}::timestamptz`]),
    ...(after === null
      ? []
      : [Prisma.sql`(created_at, id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`]),
  ];
  const { text, values } = Prisma.sql`
    SELECT ${Prisma.raw(recordColumns)} FROM ${rowsOf(tenantId, states)} WHERE ${Prisma.join(conditions, ' AND ')}
    ORDER BY created_at DESC, id DESC LIMIT ${filter.limit}`;
  const rows = await store.query<RecordRow>(text, values);
  return rows.map((row) => recordOfRow(store, row));
}

/**
 * SQL for the rows that `listSubmissions` searches. If all `states` are in `inFlightStates`, these
 * rows are only the tenant's submissions in flight, which are few.
 */
function rowsOf(tenantId: string, states: readonly SubmissionState[] | null): Prisma.Sql {
  const areInFlight = states?.every((state) => inFlightStates.includes(state)) ?? false;
  if (!areInFlight) return Prisma.sql`submissions`;
  return Prisma.sql`(SELECT * FROM submissions WHERE id = ANY(ARRAY(
    SELECT submission_id FROM submissions_in_flight WHERE tenant_id = ${tenantId}::uuid)) OFFSET 0) s`;
}
