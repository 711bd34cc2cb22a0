import { type DeliveryStatus, webhookAgeMaxMs } from '@svc/domain';
import { batched } from '../connection/batching.ts';
import type { Query } from '../connection/query.ts';
import { statement } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';
import { responsePlace } from '../sealing/sealed.ts';
import {
  beginRound,
  deliveryStatusOf,
  dropInactiveDeliveries,
  type StoredDeliveryStatus,
} from './deliveries.ts';

export type AttemptVerdict =
  | { kind: 'delivered' }
  /** Exhausts the delivery if the retry would come 72 hours or more after the round began. */
  | { kind: 'retry'; delayMs: number }
  | { kind: 'exhausted' }
  /** The endpoint answered 410 Gone (CONTRACT 6). */
  | { kind: 'gone' };

export interface AttemptRecord {
  deliveryId: string;
  tenantId: string;
  /** The id of the row in `webhook_endpoints`. Null if the URL is from the tenant's settings. */
  targetId: string | null;
  round: number;
  attemptNumber: number;
  url: string;
  statusCode: number | null;
  durationMs: number;
  error: string | null;
  /** At most `webhookResponseKeptBytesMax` bytes of the response. Null if there is none. */
  responseText: string | null;
  verdict: AttemptVerdict;
}

export interface RecordedAttempt {
  /**
   * The delivery's status after this attempt. Null if the delivery did not change, because it had
   * ended, had a new round or was claimed again.
   */
  status: DeliveryStatus | null;
}

const recordBatchesInFlightMax = 2;

const recordInBatch = batched<AttemptRecord, RecordedAttempt>({
  run: (store, attempts) => recordAttempts(store, store.query, attempts),
  inFlightMax: recordBatchesInFlightMax,
});

/** Records the result of an attempt, and updates the delivery accordingly (CONTRACT 6). */
export async function recordAttempt(
  store: Store,
  attempt: AttemptRecord,
): Promise<RecordedAttempt> {
  if (attempt.verdict.kind !== 'gone') return recordInBatch(store, attempt);
  const recorded = await store.transaction(async (query): Promise<RecordedAttempt> => {
    // Locks the tenant or the endpoint before its deliveries, to prevent a deadlock. A change that
    // clears the URL or deletes the endpoint uses the same order.
    const isDisabled = await disableUrl(query, attempt);
    // If another URL has replaced this one, the event must still be sent there.
    const isReplaced = !isDisabled && (await hasOtherUrl(query, attempt));
    const isAgain = isReplaced && (await sendAgain(query, attempt));
    const [one] = await recordAttempts(store, query, [attempt]);
    return isAgain ? { status: 'pending' } : (one ?? { status: null });
  });
  // If this fails, claims drop the deliveries.
  await dropInactiveDeliveries(store, attempt).catch(() => {});
  return recorded;
}

const goneReason = 'the endpoint answered 410 Gone';

async function disableUrl(
  query: Query,
  { tenantId, targetId, url }: Pick<AttemptRecord, 'tenantId' | 'targetId' | 'url'>,
): Promise<boolean> {
  if (targetId !== null) {
    const disabled = await query(
      `UPDATE webhook_endpoints SET disabled_at = svc_now(), disabled_reason = $3
       WHERE id = $1::uuid AND url = $2 AND disabled_at IS NULL RETURNING 1`,
      [targetId, url, goneReason],
    );
    return disabled.length > 0;
  }
  const changed = await query(
    `UPDATE tenants
     SET webhook_disabled_at = svc_now(), webhook_disabled_reason = $3
     WHERE id = $1::uuid AND webhook_url = $2 AND webhook_disabled_at IS NULL RETURNING 1`,
    [tenantId, url, goneReason],
  );
  return changed.length > 0;
}

async function hasOtherUrl(
  query: Query,
  { tenantId, targetId, url }: Pick<AttemptRecord, 'tenantId' | 'targetId' | 'url'>,
): Promise<boolean> {
  const other = await query(
    targetId === null
      ? 'SELECT 1 FROM tenants WHERE id = $1::uuid AND webhook_url <> $2 AND webhook_disabled_at IS NULL'
      : 'SELECT 1 FROM webhook_endpoints WHERE id = $1::uuid AND url <> $2 AND disabled_at IS NULL AND retired_at IS NULL',
    [targetId ?? tenantId, url],
  );
  return other.length > 0;
}

/**
 * Begins a new round for the URL in force. The present round may have no attempt left, or no time.
 * Returns false if the delivery has changed since the attempt was claimed.
 */
async function sendAgain(
  query: Query,
  { deliveryId, round, attemptNumber }: AttemptRecord,
): Promise<boolean> {
  const queued = await query(
    `UPDATE deliveries d SET ${beginRound}
     WHERE id = $1::uuid AND round = $2 AND attempt_count = $3 AND status = ANY($4) RETURNING 1`,
    [deliveryId, round, attemptNumber, liveStatuses],
  );
  return queued.length > 0;
}

const liveStatuses = ['pending', 'queued'];

const statusOfVerdict: Record<AttemptVerdict['kind'], DeliveryStatus> = {
  delivered: 'delivered',
  exhausted: 'exhausted',
  gone: 'dropped',
  retry: 'pending',
};

/**
 * `d.status` is compared with a parameter. If it were compared with literals, the planner could use
 * a partial index instead of the primary key (decision 25).
 */
const recordRows = statement(
  { input: 'jsonb', delivery_id: 'uuid[]', live: 'text[]' },
  `
  WITH input AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($input) AS (position int, delivery_id uuid,
      round int, number int, status_code int, duration_ms int, error text, response text, status text, delay_ms bigint)
  ), logged AS (
    UPDATE delivery_attempts a SET recorded_at = svc_now(), status_code = r.status_code,
      duration_ms = r.duration_ms, error = r.error, response_sealed = decode(r.response, 'base64')
    FROM input r
    WHERE a.delivery_id = ANY($delivery_id) AND a.delivery_id = r.delivery_id AND a.round = r.round
      AND a.number = r.number AND a.recorded_at IS NULL
  ), held AS MATERIALIZED (
    SELECT r.position, d.id, r.round, r.number, svc_now() + r.delay_ms * interval '1 millisecond' AS next_at,
      CASE WHEN r.status <> 'pending' THEN r.status
        WHEN svc_now() + r.delay_ms * interval '1 millisecond'
          >= d.round_started_at + ${webhookAgeMaxMs} * interval '1 millisecond' THEN 'exhausted'
        ELSE d.status END AS status
    FROM input r JOIN deliveries d ON d.id = r.delivery_id AND d.id = ANY($delivery_id)
    ORDER BY d.id FOR UPDATE OF d
  )
  UPDATE deliveries d SET status = h.status,
    next_attempt_at = CASE WHEN h.status = ANY($live) THEN h.next_at END,
    due_at = CASE WHEN h.status = ANY($live) THEN h.next_at ELSE d.due_at END,
    finished_at = CASE WHEN h.status <> ALL($live) THEN svc_now() END
  FROM held h
  WHERE d.id = ANY($delivery_id) AND d.id = h.id AND d.status = ANY($live) AND d.round = h.round AND d.attempt_count = h.number
  RETURNING h.position, d.status`,
);

/**
 * Returns one entry for each attempt, in the order of `attempts`. A repeated call never changes a
 * recorded attempt, but it may postpone a retry.
 */
async function recordAttempts(
  store: Store,
  query: Query,
  attempts: readonly AttemptRecord[],
): Promise<RecordedAttempt[]> {
  const input = attempts.map((attempt, position) => ({
    position,
    delivery_id: attempt.deliveryId,
    round: attempt.round,
    number: attempt.attemptNumber,
    status_code: attempt.statusCode,
    duration_ms: Math.round(attempt.durationMs),
    error: storable(attempt.error),
    response: sealedResponse(store, attempt),
    status: statusOfVerdict[attempt.verdict.kind],
    delay_ms: attempt.verdict.kind === 'retry' ? Math.ceil(attempt.verdict.delayMs) : 0,
  }));
  const rows = await recordRows<{ position: number; status: StoredDeliveryStatus }>(query, {
    input: JSON.stringify(input),
    delivery_id: attempts.map(({ deliveryId }) => deliveryId),
    live: liveStatuses,
  });
  const statuses = new Map(
    rows.map(({ position, status }) => [position, deliveryStatusOf(status)]),
  );
  return attempts.map((_, position) => ({ status: statuses.get(position) ?? null }));
}

function sealedResponse(store: Store, attempt: AttemptRecord): string | null {
  const { tenantId, deliveryId, round, attemptNumber: number, responseText } = attempt;
  if (responseText === null) return null;
  const sealed = store.sealer.seal(
    responsePlace({ tenantId, deliveryId, round, number }),
    storable(responseText) ?? '',
  );
  return Buffer.from(sealed).toString('base64');
}

/**
 * Removes U+0000 and replaces unpaired surrogates. Postgres accepts neither in JSON, and
 * `recordAttempts` sends `error` as a part of JSON.
 */
function storable(text: string | null): string | null {
  return text === null ? null : text.replaceAll('\0', '').toWellFormed();
}
