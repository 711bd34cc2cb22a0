import { dispatchDeadlineMs, type Tier } from '@svc/domain';
import { createBatcher, perStore } from './batching.ts';
import { sqlState, uniqueViolation } from './errors.ts';
import type { Store } from './store.ts';
import { payloadBinding, type StoredQuote } from './submissions.ts';

export interface NewSubmission {
  id: string;
  tenantId: string;
  idempotencyKey: string;
  /** Keyed hash of the canonical request. */
  requestHash: Uint8Array;
  requestId: string;
  jobType: string;
  tier: Tier;
  /** JSON text, kept and passed on as it was sent. */
  payloadText: string;
  quote: StoredQuote & { rateCardVersion: number };
}

export type HoldOutcome =
  | { kind: 'held'; availableAfterMicros: bigint }
  | { kind: 'key_taken' }
  | { kind: 'insufficient_credits' };

/** Statements under way at once in one process. */
const holdBatchesInFlightMax = 2;

const batcherOf = perStore((store) =>
  createBatcher<NewSubmission, HoldOutcome>({
    run: (submissions) => holdSubmissions(store, submissions),
    inFlightMax: holdBatchesInFlightMax,
  }),
);

/**
 * Holds `quote.max` and writes the submission with it, or does neither (SPEC.md section 1,
 * CONTRACT.md section 3). `key_taken` where a live submission of the tenant has this key, also
 * where the credit would not suffice: the key is looked at first. Calls that wait at the same time
 * share one statement; each gets its own outcome.
 */
export function holdSubmission(store: Store, submission: NewSubmission): Promise<HoldOutcome> {
  return batcherOf(store).call(submission);
}

/**
 * Places many holds in one statement, each as if they came one after another. The accounts are
 * locked in the order of their ids, so that two batches never deadlock; one tenant's holds are
 * granted in the order given while its credit lasts, so that a smaller one after a refused larger
 * one is granted. Outcomes are in the order of the submissions.
 *
 * A key that another batch takes at the same moment breaks the unique index, and with it the whole
 * batch, so that the figures after each hold stay exact; the caller runs it again one by one. One
 * alone answers `key_taken` then.
 */
export async function holdSubmissions(
  store: Store,
  submissions: readonly NewSubmission[],
): Promise<HoldOutcome[]> {
  try {
    const rows = await insertHeld(store, submissions);
    const byPosition = new Map(rows.map((row) => [row.position, row]));
    return submissions.map((_, position) => outcomeOf(byPosition.get(position)));
  } catch (error) {
    if (submissions.length > 1 || sqlState(error) !== uniqueViolation) throw error;
    return [{ kind: 'key_taken' }];
  }
}

interface HoldRow {
  position: number;
  key_taken: boolean;
  /** Null where it was not granted. */
  available_after: bigint | null;
}

function outcomeOf(row: HoldRow | undefined): HoldOutcome {
  if (row?.key_taken === true) return { kind: 'key_taken' };
  const available = row?.available_after ?? null;
  if (available === null) return { kind: 'insufficient_credits' };
  return { kind: 'held', availableAfterMicros: available };
}

function inputRow(store: Store, submission: NewSubmission, position: number) {
  const { id, quote } = submission;
  const payload = store.sealer.seal(payloadBinding(id), submission.payloadText);
  return {
    position,
    id,
    entry_id: store.newId(),
    tenant_id: submission.tenantId,
    idempotency_key: submission.idempotencyKey,
    request_hash: Buffer.from(submission.requestHash).toString('hex'),
    request_id: submission.requestId,
    job_type: submission.jobType,
    tier: submission.tier,
    payload: Buffer.from(payload).toString('base64'),
    estimated: String(quote.estimatedMicros),
    max: String(quote.maxMicros),
    surge: String(quote.surgeMicros),
    card: quote.rateCardVersion,
  };
}

/**
 * The look-ups are lateral joins, one row each, so that the planner can only walk an index: as
 * `EXISTS` or `IN` it hashed the whole table, which was small when the plan was made and grew.
 */
function insertHeld(store: Store, submissions: readonly NewSubmission[]): Promise<HoldRow[]> {
  const rows = submissions.map((submission, position) => inputRow(store, submission, position));
  return store.db.$queryRaw<HoldRow[]>`
    WITH RECURSIVE input AS MATERIALIZED (
      SELECT *, row_number() OVER (PARTITION BY tenant_id, idempotency_key ORDER BY position) AS nth_of_key
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS (position int, id uuid, entry_id uuid,
        tenant_id uuid, idempotency_key text, request_hash text, request_id text, job_type text, tier text,
        payload text, estimated bigint, max bigint, surge bigint, card int)
    ), checked AS MATERIALIZED (
      SELECT input.*, nth_of_key > 1 OR earlier.id IS NOT NULL AS key_taken
      FROM input LEFT JOIN LATERAL (
        SELECT s.id FROM submissions s WHERE s.tenant_id = input.tenant_id
          AND s.idempotency_key = input.idempotency_key AND s.state <> 'rejected' LIMIT 1) earlier ON true
    ), account AS MATERIALIZED (
      SELECT a.tenant_id, a.balance_micros, a.balance_micros - a.held_micros AS available
      FROM (SELECT DISTINCT tenant_id FROM checked WHERE NOT key_taken ORDER BY tenant_id) t
      CROSS JOIN LATERAL (
        SELECT * FROM credit_accounts c WHERE c.tenant_id = t.tenant_id FOR UPDATE) a
    ), candidate AS MATERIALIZED (
      SELECT position, tenant_id, max, row_number() OVER (PARTITION BY tenant_id ORDER BY position) AS turn
      FROM checked WHERE NOT key_taken
    ), walk AS (
      SELECT tenant_id, 0::bigint AS turn, -1 AS position, false AS granted, available FROM account
      UNION ALL
      SELECT w.tenant_id, c.turn, c.position, c.max <= w.available,
        w.available - CASE WHEN c.max <= w.available THEN c.max ELSE 0 END
      FROM walk w JOIN candidate c ON c.tenant_id = w.tenant_id AND c.turn = w.turn + 1
    ), granted AS MATERIALIZED (
      SELECT c.*, w.available AS available_after, a.balance_micros
      FROM walk w JOIN checked c ON c.position = w.position JOIN account a ON a.tenant_id = w.tenant_id
      WHERE w.granted
    ), submission AS (
      INSERT INTO submissions (id, tenant_id, idempotency_key, request_hash, request_id, job_type, tier,
        state, payload_sealed, quote_estimated_micros, quote_max_micros, surge_micros, rate_card_version,
        available_after_micros, dispatch_deadline_at, created_at)
      SELECT id, tenant_id, idempotency_key, decode(request_hash, 'hex'), request_id, job_type, tier,
        'pending', decode(payload, 'base64'), estimated, max, surge, card, available_after,
        svc_now() + ${dispatchDeadlineMs} * interval '1 millisecond', svc_now()
      FROM granted
    ), held AS (
      UPDATE credit_accounts a SET held_micros = a.held_micros + g.total
      FROM (SELECT tenant_id, sum(max)::bigint AS total FROM granted GROUP BY tenant_id) g
      WHERE a.tenant_id = g.tenant_id
    ), entry AS (
      INSERT INTO ledger_entries (id, tenant_id, type, debit_account, credit_account, amount_micros,
        balance_after_micros, held_after_micros, submission_id, created_at)
      SELECT entry_id, tenant_id, 'hold', 'tenant_available', 'tenant_held', max, balance_micros,
        balance_micros - available_after, id, svc_now()
      FROM granted WHERE max > 0 ORDER BY position
    )
    SELECT c.position, c.key_taken, g.available_after
    FROM checked c LEFT JOIN granted g ON g.position = c.position`;
}
