import {
  dispatchDeadlineMs,
  dispatchGraceMs,
  type FailureCode,
  type FailureFacts,
  type SubmissionState,
  type Tier,
  type Usage,
} from '@svc/domain';
import { batched } from '../connection/batching.ts';
import { statement } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';
import { usageOfText } from '../pricing/rate-cards.ts';
import { holdsItsKey, isNotRejected } from '../schema/submission-states.ts';
import { outcomePlace, unsealText } from '../sealing/sealed.ts';

export interface StoredQuote {
  estimatedMicros: bigint;
  maxMicros: bigint;
  /** The surge multiplier, in millionths. */
  surgeMicros: bigint;
}

/**
 * The facts of a submission from which the gateway answers the request that created it, and each
 * repeat of this request.
 */
export interface KeyedSubmission {
  id: string;
  tenantId: string;
  state: SubmissionState;
  /**
   * True if the submission was ever assigned to a node. If a cancelled submission was never
   * assigned, the cancel came before the creation was answered.
   */
  dispatched: boolean;
  requestHash: Uint8Array;
  quote: StoredQuote;
  /**
   * The tenant's available credits right after the hold. The value is stored, so each repeat of the
   * request gets the same value.
   */
  availableAfterMicros: bigint;
  /**
   * Milliseconds until the dispatch deadline, at most `dispatchDeadlineMs`. Negative after the
   * deadline.
   */
  remainingMs: number;
  /**
   * True if the submission is still `pending` and its dispatch deadline passed at least
   * `dispatchGraceMs` ago. The caller may then reject it.
   */
  overdue: boolean;
  /** Null until the submission has ended, and always null for a rejected one. */
  chargedMicros: bigint | null;
  refundedMicros: bigint | null;
}

interface KeyedRow {
  /** The position in the input, from 1. */
  position: number;
  id: string;
  tenant_id: string;
  state: SubmissionState;
  dispatched: boolean;
  request_hash: Uint8Array;
  quote_estimated_micros: bigint;
  quote_max_micros: bigint;
  surge_micros: bigint;
  available_after_micros: bigint;
  remaining_ms: number;
  charged_micros: bigint | null;
}

const keyedColumns = `s.id, s.tenant_id, s.state, s.request_hash, s.quote_estimated_micros, s.quote_max_micros,
  s.surge_micros, s.available_after_micros, s.charged_micros, s.dispatched_at IS NOT NULL AS dispatched,
  (extract(epoch FROM s.dispatch_deadline_at - svc_now()) * 1000)::float8 AS remaining_ms`;

interface TenantKey {
  readonly tenantId: string;
  readonly idempotencyKey: string;
}

const findInBatch = batched<TenantKey, KeyedSubmission | null>({
  run: async (store, keys) => {
    const rows = await findByKeys<KeyedRow>(store.query, {
      tenant_id: keys.map(({ tenantId }) => tenantId),
      idempotency_key: keys.map(({ idempotencyKey }) => idempotencyKey),
    });
    return inPlaces(keys.length, rows);
  },
  answerMsMax: dispatchDeadlineMs,
});

/**
 * `>=` and `ORDER BY` make the planner use the index of idempotency keys. With `=` instead, the
 * planner may choose another index and read all submissions of the tenant (decision 23).
 */
const findByKeys = statement(
  { tenant_id: 'uuid[]', idempotency_key: 'text[]' },
  `
  SELECT asked.position::int AS position, ${keyedColumns}
  FROM unnest($tenant_id, $idempotency_key) WITH ORDINALITY AS asked (tenant_id, idempotency_key, position)
  CROSS JOIN LATERAL (
    SELECT * FROM submissions
    WHERE (tenant_id, idempotency_key) >= (asked.tenant_id, asked.idempotency_key) AND ${holdsItsKey}
    ORDER BY tenant_id, idempotency_key LIMIT 1) s
  WHERE s.tenant_id = asked.tenant_id AND s.idempotency_key = asked.idempotency_key`,
);

/**
 * The tenant's submission with this idempotency key. Null if there is none, or if it was rejected,
 * because a rejection frees the key.
 */
export function findByIdempotencyKey(
  store: Store,
  tenantId: string,
  idempotencyKey: string,
): Promise<KeyedSubmission | null> {
  return findInBatch(store, { tenantId, idempotencyKey });
}

const readInBatch = batched<string, KeyedSubmission | null>({
  run: async (store, ids) =>
    inPlaces(ids.length, await readByIds<KeyedRow>(store.query, { id: ids })),
  answerMsMax: dispatchDeadlineMs,
});

const readByIds = statement(
  { id: 'uuid[]' },
  `
  SELECT asked.position::int AS position, ${keyedColumns}
  FROM unnest($id) WITH ORDINALITY AS asked (id, position)
  CROSS JOIN LATERAL (SELECT * FROM submissions WHERE id = asked.id LIMIT 1) s`,
);

/**
 * The current state of a submission, also of a rejected one. Null for an unknown id. Includes
 * everything that was committed before the call.
 */
export function readDispatchOutcome(store: Store, id: string): Promise<KeyedSubmission | null> {
  return readInBatch(store, id);
}

function inPlaces(count: number, rows: readonly KeyedRow[]): (KeyedSubmission | null)[] {
  const byPosition = new Map(rows.map((row) => [row.position, row]));
  return Array.from({ length: count }, (_, index) => {
    const row = byPosition.get(index + 1);
    return row === undefined ? null : keyedOfRow(row);
  });
}

function keyedOfRow(row: KeyedRow): KeyedSubmission {
  const { quote_max_micros: maxMicros, charged_micros: chargedMicros } = row;
  return {
    id: row.id,
    tenantId: row.tenant_id,
    state: row.state,
    dispatched: row.dispatched,
    requestHash: row.request_hash,
    quote: {
      estimatedMicros: row.quote_estimated_micros,
      maxMicros,
      surgeMicros: row.surge_micros,
    },
    availableAfterMicros: row.available_after_micros,
    remainingMs: Math.min(row.remaining_ms, dispatchDeadlineMs),
    overdue: row.state === 'pending' && row.remaining_ms <= -dispatchGraceMs,
    chargedMicros,
    refundedMicros: chargedMicros === null ? null : maxMicros - chargedMicros,
  };
}

/**
 * A submission without its payload. The tenant's view of it (CONTRACT 5) omits `nodeId` and
 * `cancelledBy`.
 */
export interface SubmissionRecord {
  id: string;
  state: SubmissionState;
  jobType: string;
  tier: Tier;
  idempotencyKey: string;
  quote: StoredQuote;
  nodeId: string | null;
  chargedMicros: bigint | null;
  refundedMicros: bigint | null;
  usage: Usage;
  failure: (FailureFacts & { message: string }) | null;
  /**
   * The JSON value that the node reported with `completed`. Null before the submission has ended,
   * after a purge, and if the node reported no result.
   */
  result: unknown;
  cancelledBy: 'tenant' | 'operator' | null;
  lateOutcome: { status: 'submitted' | 'failed'; at: Date } | null;
  createdAt: Date;
  dispatchedAt: Date | null;
  startedAt: Date | null;
  finishedAt: Date | null;
}

export interface RecordRow {
  id: string;
  tenant_id: string;
  state: SubmissionState;
  job_type: string;
  tier: Tier;
  idempotency_key: string;
  quote_estimated_micros: bigint;
  quote_max_micros: bigint;
  surge_micros: bigint;
  node_id: string | null;
  charged_micros: bigint | null;
  usage: Record<string, string | null>;
  outcome_kind: 'completed' | 'failed' | null;
  failure_code: FailureCode | null;
  stated_retriable: boolean | null;
  outcome_sealed: Uint8Array | null;
  cancelled_by: 'tenant' | 'operator' | null;
  late_outcome_status: 'submitted' | 'failed' | null;
  late_outcome_at: Date | null;
  created_at: Date;
  dispatched_at: Date | null;
  started_at: Date | null;
  finished_at: Date | null;
}

/** The amounts are strings, which keep the exact decimals. */
export const usageColumns = `jsonb_build_object(
  'nodeSeconds', usage_node_seconds::text, 'cpuSeconds', usage_cpu_seconds::text,
  'memoryGbSeconds', usage_memory_gb_seconds::text, 'bandwidthMb', usage_bandwidth_mb::text,
  'actions', usage_actions::text)`;

export const recordColumns = `id, tenant_id, state, job_type, tier, idempotency_key, quote_estimated_micros, quote_max_micros,
  surge_micros, node_id, charged_micros, ${usageColumns} AS usage, outcome_kind, failure_code, stated_retriable,
  outcome_sealed, cancelled_by, late_outcome_status, late_outcome_at, created_at, dispatched_at, started_at, finished_at`;

/** Finds a submission of a tenant. Null if it is unknown, rejected or belongs to another tenant. */
export async function findSubmission(
  store: Store,
  tenantId: string,
  id: string,
): Promise<SubmissionRecord | null> {
  const [row] = await readVisible<RecordRow>(store.query, { id, tenant_id: tenantId });
  return row === undefined ? null : recordOfRow(store, row);
}

const readVisible = statement(
  { id: 'uuid', tenant_id: 'uuid' },
  `
  SELECT ${recordColumns} FROM submissions
  WHERE id = $id AND tenant_id = $tenant_id AND ended_otherwise ${isNotRejected}`,
);

/** The members of an outcome that are sealed at rest, because they may contain personal data. */
export interface OutcomeText {
  message?: string;
  result?: unknown;
}

/** Returns an empty object if no text is stored. */
export function unsealOutcome(
  store: Store,
  at: { id: string; tenantId: string; kind: string | null; sealed: Uint8Array | null },
): OutcomeText {
  const { id, tenantId, kind, sealed } = at;
  if (sealed === null || kind === null) return {};
  const place = outcomePlace({ id, tenantId, kind });
  const text: OutcomeText = JSON.parse(unsealText(store.sealer, place, sealed));
  return text;
}

export function recordOfRow(store: Store, row: RecordRow): SubmissionRecord {
  const ended = row.charged_micros !== null;
  const { tenant_id: tenantId, outcome_kind: kind, outcome_sealed: sealed } = row;
  const outcome = ended ? unsealOutcome(store, { id: row.id, tenantId, kind, sealed }) : {};
  return {
    id: row.id,
    state: row.state,
    jobType: row.job_type,
    tier: row.tier,
    idempotencyKey: row.idempotency_key,
    quote: {
      estimatedMicros: row.quote_estimated_micros,
      maxMicros: row.quote_max_micros,
      surgeMicros: row.surge_micros,
    },
    nodeId: row.node_id,
    chargedMicros: row.charged_micros,
    refundedMicros: row.charged_micros === null ? null : row.quote_max_micros - row.charged_micros,
    usage: usageOfText(row.usage),
    failure: ended ? failureOfRow(row, outcome) : null,
    result: outcome.result ?? null,
    cancelledBy: row.cancelled_by,
    lateOutcome:
      row.late_outcome_status === null || row.late_outcome_at === null
        ? null
        : { status: row.late_outcome_status, at: row.late_outcome_at },
    createdAt: row.created_at,
    dispatchedAt: row.dispatched_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  };
}

function failureOfRow(
  { failure_code: code, stated_retriable: statedRetriable, started_at: startedAt }: RecordRow,
  { message = '' }: OutcomeText,
): SubmissionRecord['failure'] {
  return code === null ? null : { code, message, begun: startedAt !== null, statedRetriable };
}
