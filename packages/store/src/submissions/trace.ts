import { assertInvariant, type OfferRecord, type Usage } from '@svc/domain';
import type { Store } from '../connection/store.ts';
import { usageOfText } from '../pricing/rate-cards.ts';
import { offersOfStored, type StoredOffer } from '../schema/offer-texts.ts';
import { findAnySubmission, type OperatorSubmission } from './operator-list.ts';

/** The facts about a submission that `svc trace` shows to an operator. */
export interface SubmissionTrace {
  submission: OperatorSubmission;
  tenantName: string;
  nodeName: string | null;
  rateCardVersion: number;
  dispatchDeadlineAt: Date;
  leaseExpiresAt: Date | null;
  runDeadlineAt: Date | null;
  outcome: { kind: 'completed' | 'failed'; by: 'node' | 'service'; at: Date } | null;
  /** Null if the offers were not recorded. */
  offers: OfferRecord[] | null;
  usage: { at: Date; usage: Usage }[];
  /**
   * The number of all usage reports. `usage` has only the first `usageEndsMax` of them and the last
   * `usageEndsMax`.
   */
  usageCount: number;
  usageCapped: boolean;
  entries: { at: Date; type: string; amountMicros: bigint; balanceAfterMicros: bigint }[];
  events: TracedEvent[];
}

export interface TracedEvent {
  id: string;
  type: string;
  at: Date;
  deliveries: TracedDelivery[];
}

export interface TracedDelivery {
  id: string;
  status: string;
  createdAt: Date;
  nextAttemptAt: Date | null;
  finishedAt: Date | null;
  attempts: {
    round: number;
    number: number;
    at: Date;
    statusCode: number | null;
    durationMs: number | null;
    error: string | null;
  }[];
}

const usageEndsMax = 10;
const rowsMax = 200;

/** Null for an unknown id. Each query uses an index and returns a limited number of rows. */
export async function readTrace(store: Store, id: string): Promise<SubmissionTrace | null> {
  const submission = await findAnySubmission(store, id);
  if (submission === null) return null;
  const [facts, usage, entries, events] = await Promise.all([
    readFacts(store, id),
    readUsage(store, id),
    readEntries(store, id),
    readEvents(store, submission.tenantId, id),
  ]);
  return { submission, ...facts, ...usage, entries, events };
}

interface FactsRow {
  tenantName: string;
  nodeName: string | null;
  rateCardVersion: number;
  dispatchDeadlineAt: Date;
  leaseExpiresAt: Date | null;
  runDeadlineAt: Date | null;
  outcomeKind: 'completed' | 'failed' | null;
  outcomeBy: 'node' | 'service' | null;
  outcomeAt: Date | null;
  usageCapped: boolean;
  /** Offers that an earlier build recorded, in another format. */
  offers: OfferRecord[] | null;
  offerRecords: StoredOffer[] | null;
}

/**
 * Reads the facts with SQL, because submissions have no foreign keys. Without them, a Prisma call
 * cannot join the tenant and the node.
 */
async function readFacts(store: Store, id: string) {
  const [row] = await store.query<FactsRow>(
    `SELECT t.name AS "tenantName", n.name AS "nodeName", s.rate_card_version AS "rateCardVersion",
       s.dispatch_deadline_at AS "dispatchDeadlineAt", s.lease_expires_at AS "leaseExpiresAt",
       s.run_deadline_at AS "runDeadlineAt", s.outcome_kind AS "outcomeKind",
       s.outcome_by AS "outcomeBy", s.outcome_at AS "outcomeAt", s.usage_capped AS "usageCapped",
       s.offers, s.offer_records::jsonb AS "offerRecords"
     FROM submissions s JOIN tenants t ON t.id = s.tenant_id LEFT JOIN nodes n ON n.id = s.node_id
     WHERE s.id = $1::uuid`,
    [id],
  );
  assertInvariant(row !== undefined, 'a submission is never deleted');
  const { outcomeKind: kind, outcomeBy: by, outcomeAt: at, offers, offerRecords, ...facts } = row;
  return {
    ...facts,
    offers: offerRecords === null ? offers : offersOfStored(offerRecords),
    outcome: kind === null || by === null || at === null ? null : { kind, by, at },
  };
}

interface UsageRow {
  at: Date;
  usage: Record<string, string | null>;
  total: number;
}

async function readUsage(store: Store, id: string) {
  const rows = await store.query<UsageRow>(
    `SELECT at, usage, total FROM (
       SELECT at, jsonb_build_object('nodeSeconds', node_seconds::text, 'cpuSeconds', cpu_seconds::text,
           'memoryGbSeconds', memory_gb_seconds::text, 'bandwidthMb', bandwidth_mb::text,
           'actions', actions::text) AS usage,
         count(*) OVER ()::int AS total, row_number() OVER (ORDER BY at) AS number
       FROM usage_reports WHERE submission_id = $1::uuid) r
     WHERE number <= $2 OR number > total - $2 ORDER BY at`,
    [id, usageEndsMax],
  );
  return {
    usage: rows.map(({ at, usage }) => ({ at, usage: usageOfText(usage) })),
    usageCount: rows[0]?.total ?? 0,
  };
}

async function readEntries({ db }: Store, submissionId: string) {
  const entries = await db.ledgerEntry.findMany({
    where: { submissionId },
    orderBy: { sequence: 'asc' },
    take: rowsMax,
    select: { createdAt: true, type: true, amountMicros: true, balanceAfterMicros: true },
  });
  return entries.map(({ createdAt: at, ...entry }) => ({ at, ...entry }));
}

async function readEvents(
  store: Store,
  tenantId: string,
  submissionId: string,
): Promise<TracedEvent[]> {
  const events = await store.db.event.findMany({
    where: { submissionId },
    orderBy: { id: 'asc' },
    take: rowsMax,
    select: { id: true, type: true, createdAt: true },
  });
  return Promise.all(
    events.map(async ({ id, type, createdAt: at }) => ({
      id,
      type,
      at,
      deliveries: await readDeliveries(store, tenantId, id),
    })),
  );
}

/**
 * A delivery gets its id right after its event. So the query searches only ids from the time around
 * the event, which are in few partitions (decision 5).
 */
async function readDeliveries(
  { db, query }: Store,
  tenantId: string,
  eventId: string,
): Promise<TracedDelivery[]> {
  const deliveries = await query<Omit<TracedDelivery, 'attempts'>>(
    `SELECT id, status, created_at AS "createdAt", next_attempt_at AS "nextAttemptAt",
       finished_at AS "finishedAt"
     FROM deliveries
     WHERE tenant_id = $1::uuid AND event_id = $2::uuid
       AND id >= svc_uuid_floor(svc_uuid_time($2::uuid) - interval '1 second')
       AND id < svc_uuid_floor(svc_uuid_time($2::uuid) + interval '10 seconds')
     ORDER BY id LIMIT ${rowsMax}`,
    [tenantId, eventId],
  );
  return Promise.all(
    deliveries.map(async (delivery) => ({
      ...delivery,
      attempts: await db.deliveryAttempt.findMany({
        where: { deliveryId: delivery.id },
        orderBy: [{ round: 'asc' }, { number: 'asc' }],
        take: rowsMax,
        select: {
          round: true,
          number: true,
          at: true,
          statusCode: true,
          durationMs: true,
          error: true,
        },
      }),
    })),
  );
}
