import type { DeliveryStatus, EventType, OfferRecord, Usage } from '@svc/domain';
import { findAnySubmission, type OperatorSubmission } from './operator-list.ts';
import { usageOfText } from '../pricing/rate-cards.ts';
import type { Store } from '../connection/store.ts';

/** Everything that is known about a submission, for an operator (`svc trace`). */
export interface SubmissionTrace {
  submission: OperatorSubmission;
  tenantName: string;
  nodeName: string | null;
  rateCardVersion: number;
  dispatchDeadlineAt: Date;
  leaseExpiresAt: Date | null;
  runDeadlineAt: Date | null;
  /** Reported by the node or decided by the service. */
  outcome: { kind: 'completed' | 'failed'; by: 'node' | 'service'; at: Date } | null;
  /** The nodes that it was offered to. Null if they were not recorded. */
  offers: OfferRecord[] | null;
  usage: { at: Date; usage: Usage }[];
  /** The number of reports. `usage` holds the first and the last of them. */
  usageCount: number;
  /** Its node reported more than a cap allows, and the usage was cut to the cap. */
  usageCapped: boolean;
  entries: { at: Date; type: string; amountMicros: bigint; balanceAfterMicros: bigint }[];
  events: TracedEvent[];
}

export interface TracedEvent {
  id: string;
  type: EventType;
  at: Date;
  deliveries: TracedDelivery[];
}

export interface TracedDelivery {
  id: string;
  status: DeliveryStatus;
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

/** If there are many reports, this many are shown from each end. */
const usageEndsMax = 10;
const rowsMax = 200;

/** Null for an unknown submission. Every part is bounded and served by an index. */
export async function readTrace(store: Store, id: string): Promise<SubmissionTrace | null> {
  const submission = await findAnySubmission(store, id);
  if (submission === null) return null;
  const [facts, usage, entries, events] = await Promise.all([
    readFacts(store, id),
    readUsage(store, id),
    readEntries(store, id),
    readEvents(store, id),
  ]);
  return { submission, ...facts, ...usage, entries, events };
}

interface FactsRow {
  tenant_name: string;
  node_name: string | null;
  rate_card_version: number;
  dispatch_deadline_at: Date;
  lease_expires_at: Date | null;
  run_deadline_at: Date | null;
  outcome_kind: 'completed' | 'failed' | null;
  outcome_by: 'node' | 'service' | null;
  outcome_at: Date | null;
  usage_capped: boolean;
  offers: OfferRecord[] | null;
}

async function readFacts(store: Store, id: string) {
  const [row] = await store.db.$queryRaw<FactsRow[]>`
    SELECT t.name AS tenant_name, n.name AS node_name, s.rate_card_version, s.dispatch_deadline_at,
      s.lease_expires_at, s.run_deadline_at, s.outcome_kind, s.outcome_by, s.outcome_at, s.usage_capped,
      s.offers
    FROM submissions s JOIN tenants t ON t.id = s.tenant_id LEFT JOIN nodes n ON n.id = s.node_id
    WHERE s.id = ${id}::uuid`;
  if (row === undefined) throw new Error('a submission is never deleted');
  const { outcome_kind: kind, outcome_by: by, outcome_at: at } = row;
  return {
    tenantName: row.tenant_name,
    nodeName: row.node_name,
    rateCardVersion: row.rate_card_version,
    dispatchDeadlineAt: row.dispatch_deadline_at,
    leaseExpiresAt: row.lease_expires_at,
    runDeadlineAt: row.run_deadline_at,
    outcome: kind === null || by === null || at === null ? null : { kind, by, at },
    usageCapped: row.usage_capped,
    offers: row.offers,
  };
}

interface UsageRow {
  at: Date;
  usage: Record<string, string | null>;
  total: number;
}

async function readUsage(store: Store, id: string) {
  const rows = await store.db.$queryRaw<UsageRow[]>`
    SELECT at, usage, total FROM (
      SELECT at, jsonb_build_object('nodeSeconds', node_seconds::text, 'cpuSeconds', cpu_seconds::text,
          'memoryGbSeconds', memory_gb_seconds::text, 'bandwidthMb', bandwidth_mb::text,
          'actions', actions::text) AS usage,
        count(*) OVER ()::int AS total, row_number() OVER (ORDER BY at) AS number
      FROM usage_reports WHERE submission_id = ${id}::uuid) r
    WHERE number <= ${usageEndsMax} OR number > total - ${usageEndsMax} ORDER BY at`;
  return {
    usage: rows.map(({ at, usage }) => ({ at, usage: usageOfText(usage) })),
    usageCount: rows[0]?.total ?? 0,
  };
}

function readEntries(store: Store, id: string): Promise<SubmissionTrace['entries']> {
  return store.db.$queryRaw<SubmissionTrace['entries']>`
    SELECT created_at AS at, type, amount_micros AS "amountMicros",
      balance_after_micros AS "balanceAfterMicros"
    FROM ledger_entries WHERE submission_id = ${id}::uuid ORDER BY sequence LIMIT ${rowsMax}`;
}

interface AttemptRow {
  event_id: string;
  type: EventType;
  event_at: Date;
  delivery_id: string | null;
  status: DeliveryStatus;
  created_at: Date;
  next_attempt_at: Date | null;
  finished_at: Date | null;
  round: number | null;
  number: number;
  at: Date;
  status_code: number | null;
  duration_ms: number | null;
  error: string | null;
}

async function readEvents(store: Store, id: string): Promise<TracedEvent[]> {
  const rows = await store.db.$queryRaw<AttemptRow[]>`
    SELECT e.id AS event_id, e.type, e.created_at AS event_at, d.id AS delivery_id, d.status,
      d.created_at, d.next_attempt_at, d.finished_at, a.round, a.number, a.at, a.status_code,
      a.duration_ms, a.error
    FROM events e LEFT JOIN deliveries d ON d.event_id = e.id
    LEFT JOIN delivery_attempts a ON a.delivery_id = d.id
    WHERE e.submission_id = ${id}::uuid
    ORDER BY e.id, d.id, a.round, a.number LIMIT ${rowsMax}`;
  const events = new Map<string, TracedEvent>();
  const deliveries = new Map<string, TracedDelivery>();
  for (const row of rows) {
    const event = events.get(row.event_id) ?? eventOfRow(row);
    events.set(event.id, event);
    if (row.delivery_id === null) continue;
    const known = deliveries.get(row.delivery_id);
    const delivery = known ?? deliveryOfRow(row, row.delivery_id);
    if (known === undefined) {
      deliveries.set(delivery.id, delivery);
      event.deliveries.push(delivery);
    }
    if (row.round !== null) delivery.attempts.push(attemptOfRow(row, row.round));
  }
  return [...events.values()];
}

function eventOfRow(row: AttemptRow): TracedEvent {
  return { id: row.event_id, type: row.type, at: row.event_at, deliveries: [] };
}

function deliveryOfRow(row: AttemptRow, id: string): TracedDelivery {
  return {
    id,
    status: row.status,
    createdAt: row.created_at,
    nextAttemptAt: row.next_attempt_at,
    finishedAt: row.finished_at,
    attempts: [],
  };
}

function attemptOfRow(row: AttemptRow, round: number): TracedDelivery['attempts'][number] {
  return {
    round,
    number: row.number,
    at: row.at,
    statusCode: row.status_code,
    durationMs: row.duration_ms,
    error: row.error,
  };
}
