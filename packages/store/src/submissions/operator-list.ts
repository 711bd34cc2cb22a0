import type { SubmissionState } from '@svc/domain';
import type { Store } from '../connection/store.ts';
import { Prisma } from '../generated/client.ts';
import {
  inFlightIds,
  inFlightStates,
  isInState,
  isNotRejected,
} from '../schema/submission-states.ts';
import {
  recordColumns,
  recordOfRow,
  type RecordRow,
  type SubmissionRecord,
} from './submissions.ts';

/** A submission as operators see it: of any tenant and in any state, including `rejected`. */
export interface OperatorSubmission extends SubmissionRecord {
  tenantId: string;
  requestId: string;
}

/**
 * A null field does not filter, with one exception: if `tenantId` is given and `states` is null,
 * rejected submissions are left out.
 */
export interface EverySubmissionFilter {
  tenantId: string | null;
  states: readonly SubmissionState[] | null;
  /** Inclusive. */
  createdAfter: Date | null;
  /** The last submission of the previous page. Null for the first page. */
  before: Pick<SubmissionRecord, 'createdAt' | 'id'> | null;
  limit: number;
}

type Row = RecordRow & { request_id: string };

const operatorColumns = `${recordColumns}, request_id`;

/** Finds a submission of any tenant, even if it is rejected. Null for an unknown id. */
export async function findAnySubmission(
  store: Store,
  id: string,
): Promise<OperatorSubmission | null> {
  const [row] = await store.query<Row>(
    `SELECT ${operatorColumns} FROM submissions WHERE id = $1::uuid`,
    [id],
  );
  return row === undefined ? null : ofRow(store, row);
}

/** Returns a page of submissions, newest first. */
export async function listEverySubmission(
  store: Store,
  filter: EverySubmissionFilter,
): Promise<OperatorSubmission[]> {
  const { tenantId, states, createdAfter, before, limit } = filter;
  // The index for one tenant is sorted by `created_at`, other indexes by `id`. Both orders are
  // newest first, because an id begins with its time.
  const isByTime = tenantId !== null && states === null;
  const order = Prisma.raw(isByTime ? 'created_at DESC, id DESC' : 'id DESC');
  const conditions = Prisma.join(
    [
      Prisma.sql`true`,
      ...(tenantId === null ? [] : [Prisma.sql`tenant_id = ${tenantId}::uuid`]),
      ...(createdAfter === null
        ? []
        : [
            Prisma.sql`created_at >= ${createdAfter}::timestamptz`,
            // This condition ends the index scan over ids early. It excludes no wanted row, because
            // the time in an id differs from `created_at` by seconds at most.
            Prisma.sql`id >= svc_uuid_floor(${createdAfter}::timestamptz - interval '1 day')`,
          ]),
      ...(before === null ? [] : [isBefore(before, isByTime)]),
    ],
    ' AND ',
  );
  // The ids are an array, so that the planner uses the primary key.
  const { text, values } = Prisma.sql`
    SELECT ${Prisma.raw(operatorColumns)} FROM submissions
    WHERE id = ANY(ARRAY(${idsOf(filter, conditions, order)})) ORDER BY ${order} LIMIT ${limit}`;
  const rows = await store.query<Row>(text, values);
  return rows.map((row) => ofRow(store, row));
}

function isBefore(
  { createdAt, id }: Pick<SubmissionRecord, 'createdAt' | 'id'>,
  isByTime: boolean,
): Prisma.Sql {
  return isByTime
    ? Prisma.sql`(created_at, id) < (${createdAt}::timestamptz, ${id}::uuid)`
    : Prisma.sql`id < ${id}::uuid`;
}

function idsOf(
  { states, tenantId, limit }: EverySubmissionFilter,
  conditions: Prisma.Sql,
  order: Prisma.Sql,
): Prisma.Sql {
  if (states === null) {
    const isListed = tenantId === null ? 'true' : `ended_otherwise ${isNotRejected}`;
    return Prisma.sql`SELECT id FROM submissions WHERE ${conditions} AND ${Prisma.raw(isListed)}
      ORDER BY ${order} LIMIT ${limit}`;
  }
  // Each state has its own part. With an array of states, the planner would not use the partial
  // index on `ended_otherwise`.
  const parts = states.map((state) => {
    const isState = Prisma.raw(isInState(state));
    if (inFlightStates.includes(state)) {
      return Prisma.sql`(SELECT id FROM (SELECT * FROM submissions
        WHERE id = ANY(${Prisma.raw(inFlightIds)}) OFFSET 0) in_flight WHERE ${isState} AND ${conditions}
        ORDER BY id DESC LIMIT ${limit})`;
    }
    return Prisma.sql`(SELECT id FROM submissions WHERE ${isState} AND ${conditions}
      ORDER BY id DESC LIMIT ${limit})`;
  });
  return Prisma.join(parts, ' UNION ALL ');
}

function ofRow(store: Store, row: Row): OperatorSubmission {
  return { ...recordOfRow(store, row), tenantId: row.tenant_id, requestId: row.request_id };
}
