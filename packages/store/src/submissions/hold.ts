import { dispatchDeadlineMs, type Tier } from '@svc/domain';
import { createBatcher, perStore } from '../connection/batching.ts';
import { isAnswerLost, sqlState, uniqueViolation } from '../connection/errors.ts';
import { type HeldFigures, markUnanswered, recogniseOwn } from './own-holds.ts';
import type { Store } from '../connection/store.ts';
import { payloadPlace } from '../sealing/sealed.ts';
import { type StoredQuote } from './submissions.ts';

export interface NewSubmission {
  id: string;
  tenantId: string;
  idempotencyKey: string;
  /** The keyed hash of the canonical request. */
  requestHash: Uint8Array;
  requestId: string;
  jobType: string;
  tier: Tier;
  /** JSON text, stored and sent to the node exactly as the tenant sent it. */
  payloadText: string;
  quote: StoredQuote & { rateCardVersion: number };
}

export type HoldOutcome =
  | ({ kind: 'held' } & HeldFigures)
  | { kind: 'key_taken' }
  /** The tenant has reached its limit of submissions in flight. */
  | { kind: 'in_flight_max' }
  | { kind: 'insufficient_credits' };

/** The most statements in flight at once in one process. */
const holdBatchesInFlightMax = 2;

const batcherOf = perStore((store) =>
  createBatcher<NewSubmission, HoldOutcome>({
    run: (submissions) => holdSubmissions(store, submissions),
    inFlightMax: holdBatchesInFlightMax,
    answerMsMax: dispatchDeadlineMs,
  }),
);

/**
 * Holds `quote.max` and writes the submission, or does neither (CONTRACT 3).
 * Returns `key_taken` if a live submission of the tenant has this key. The key is
 * checked first, so `key_taken` wins over the other refusals. Calls that wait at the same time
 * share one statement; each gets its own outcome.
 */
export function holdSubmission(store: Store, submission: NewSubmission): Promise<HoldOutcome> {
  return batcherOf(store).call(submission);
}

/**
 * Places many holds in one statement, each as if they came one after another. The outcomes are in
 * the order given. The accounts are locked in the order of their ids, so that two batches never
 * deadlock. A tenant's holds are granted in the order given, as far as its credits and its limit in
 * flight allow. A smaller hold after a refused larger one is granted. If a key occurs twice, the
 * second gets `key_taken`, even if the first is not granted, because the first is still being
 * answered.
 */
export async function holdSubmissions(
  store: Store,
  submissions: readonly NewSubmission[],
): Promise<HoldOutcome[]> {
  const firsts = firstOfEachKey(submissions);
  let outcomes: HoldOutcome[];
  try {
    const rows = await insertHeld(store, firsts);
    const byPosition = new Map(rows.map((row) => [row.position, row]));
    const byFirst = new Map(
      firsts.map((submission, index) => [submission, outcomeOf(byPosition.get(index + 1))]),
    );
    outcomes = submissions.map((submission) => byFirst.get(submission) ?? { kind: 'key_taken' });
  } catch (error) {
    // A batch whose answer was lost runs again and may have been committed. Each of its holds then
    // finds its own key taken. It is recognised by its id and gets the answer that was lost.
    if (isAnswerLost(error)) markUnanswered(firsts);
    // Another batch took one of the keys at the same moment. The unique index refuses the whole
    // batch, so that the balances after each hold stay exact. The caller runs the holds one by one.
    if (submissions.length > 1 || sqlState(error) !== uniqueViolation) throw error;
    outcomes = [{ kind: 'key_taken' }];
  }
  return recogniseOwn(store, submissions, outcomes);
}

function firstOfEachKey(submissions: readonly NewSubmission[]): NewSubmission[] {
  const byKey = new Map<string, NewSubmission>();
  for (const submission of submissions) {
    const key = `${submission.tenantId} ${submission.idempotencyKey}`;
    if (!byKey.has(key)) byKey.set(key, submission);
  }
  return [...byKey.values()];
}

interface HoldRow {
  /** The position in the input, from 1. */
  position: number;
  key_taken: boolean;
  has_room: boolean;
  /** Null if the hold was not granted. */
  available_after: string | null;
  held_at_ms: string;
}

/** A tenant without an account has no row, and no credits. */
function outcomeOf(row: HoldRow | undefined): HoldOutcome {
  if (row?.key_taken === true) return { kind: 'key_taken' };
  if (row?.has_room === false) return { kind: 'in_flight_max' };
  const available = row?.available_after ?? null;
  if (available === null) return { kind: 'insufficient_credits' };
  return {
    kind: 'held',
    availableAfterMicros: BigInt(available),
    heldAtMs: Number(row?.held_at_ms),
  };
}

// The look-ups are lateral joins of one row each, so that the planner can only use an index. With
// `EXISTS` or `IN` it hashed the whole table, which was small when the plan was made and grew. The
// key look-up asks for the first key not below it, in the order of the key index. With a plain
// equality the planner may take any index that begins with the tenant while the table is small, and
// later read all that the tenant ever sent.

/**
 * `checked` is the input. `walk` goes through each tenant's holds in turn, with its account locked;
 * the granted ones are written. Only the deciding columns pass through these two. The others are
 * read from the parameters when they are written. The bytes of all rows are in one parameter (as
 * JSON, payloads were parsed three times and copied five).
 *
 * The account is set from the balances that were read under its lock, not as a change of itself.
 * Postgres checks the CHECK on the row as of the statement's start, before it finds that another
 * transaction has changed it. It would refuse a hold that fits.
 */
const holdSql = `
  WITH RECURSIVE checked AS MATERIALIZED (
    SELECT r.*, earlier.tenant_id IS NOT NULL AS key_taken
    FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::int[]) WITH ORDINALITY
      AS r (tenant_id, idempotency_key, max, turn, position)
    LEFT JOIN LATERAL (
      SELECT s.tenant_id, s.idempotency_key FROM submissions s
      WHERE (s.tenant_id, s.idempotency_key) >= (r.tenant_id, r.idempotency_key) AND s.state <> 'rejected'
      ORDER BY s.tenant_id, s.idempotency_key LIMIT 1) earlier
    ON earlier.tenant_id = r.tenant_id AND earlier.idempotency_key = r.idempotency_key
  ), walk AS (
    SELECT a.tenant_id, 0 AS turn, 0::bigint AS position, 0::bigint AS max, false AS key_taken,
      false AS granted, true AS has_room, a.balance_micros - a.held_micros AS available,
      a.in_flight, COALESCE(a.in_flight_max, 2147483647) AS in_flight_max, a.balance_micros AS balance
    FROM unnest($5::uuid[]) AS t (tenant_id)
    CROSS JOIN LATERAL (
      SELECT * FROM credit_accounts c WHERE c.tenant_id = t.tenant_id FOR UPDATE) a
    UNION ALL
    SELECT w.tenant_id, c.turn, c.position, c.max, c.key_taken, d.granted, w.in_flight < w.in_flight_max,
      CASE WHEN d.granted THEN w.available - c.max ELSE w.available END,
      w.in_flight + d.granted::int, w.in_flight_max, w.balance
    FROM walk w JOIN checked c ON c.tenant_id = w.tenant_id AND c.turn = w.turn + 1
    CROSS JOIN LATERAL (SELECT NOT c.key_taken AND w.in_flight < w.in_flight_max AND c.max <= w.available AS granted) d
  ), submission AS (
    INSERT INTO submissions (id, tenant_id, idempotency_key, request_hash, request_id, job_type, tier,
      state, payload_sealed, quote_estimated_micros, quote_max_micros, surge_micros, rate_card_version,
      available_after_micros, dispatch_deadline_at, created_at)
    SELECT ($6::uuid[])[position], tenant_id, ($2::text[])[position],
      substring($14::bytea FROM ($15::int[])[position] + 1 FOR ($16::int[])[position] - ($15::int[])[position]),
      ($8::text[])[position], ($9::text[])[position], ($10::text[])[position], 'pending',
      substring($14::bytea FROM ($16::int[])[position] + 1 FOR ($17::int[])[position] - ($16::int[])[position]),
      ($11::bigint[])[position], max, ($12::bigint[])[position], ($13::int[])[position], available,
      svc_now() + ${dispatchDeadlineMs} * interval '1 millisecond', svc_now()
    FROM walk WHERE granted
  ), held AS (
    UPDATE credit_accounts a SET balance_micros = g.balance, held_micros = g.balance - g.available,
      in_flight = g.in_flight
    FROM (SELECT tenant_id, balance, min(available) AS available, max(in_flight) AS in_flight
      FROM walk WHERE granted GROUP BY tenant_id, balance) g
    WHERE a.tenant_id = g.tenant_id
  ), entry AS (
    INSERT INTO ledger_entries (id, tenant_id, type, debit_account, credit_account, amount_micros,
      balance_after_micros, held_after_micros, submission_id, created_at)
    SELECT ($7::uuid[])[position], tenant_id, 'hold', 'tenant_available', 'tenant_held', max, balance,
      balance - available, ($6::uuid[])[position], svc_now()
    FROM walk WHERE granted AND max > 0 ORDER BY position
  )
  SELECT position::int AS position, key_taken, has_room, CASE WHEN granted THEN available END AS available_after,
    (extract(epoch FROM svc_now()) * 1000)::bigint AS held_at_ms
  FROM walk WHERE turn > 0`;

function insertHeld(store: Store, submissions: readonly NewSubmission[]): Promise<HoldRow[]> {
  const quotes = submissions.map(({ quote }) => quote);
  const { turns, tenantIds } = turnsOf(submissions);
  const { bytes, hashesFrom, payloadsFrom, payloadsTo } = bytesOf(store, submissions);
  return store.query<HoldRow>(holdSql, [
    submissions.map(({ tenantId }) => tenantId),
    submissions.map(({ idempotencyKey }) => idempotencyKey),
    quotes.map(({ maxMicros }) => maxMicros),
    turns,
    tenantIds,
    submissions.map(({ id }) => id),
    submissions.map(() => store.newId()),
    submissions.map(({ requestId }) => requestId),
    submissions.map(({ jobType }) => jobType),
    submissions.map(({ tier }) => tier),
    quotes.map(({ estimatedMicros }) => estimatedMicros),
    quotes.map(({ surgeMicros }) => surgeMicros),
    quotes.map(({ rateCardVersion }) => rateCardVersion),
    bytes,
    hashesFrom,
    payloadsFrom,
    payloadsTo,
  ]);
}

/**
 * The turn of each submission within its tenant, from 1, and the tenants in the order of their ids.
 */
function turnsOf(submissions: readonly NewSubmission[]) {
  const last = new Map<string, number>();
  const turns = submissions.map(({ tenantId }) => {
    const turn = (last.get(tenantId) ?? 0) + 1;
    last.set(tenantId, turn);
    return turn;
  });
  return { turns, tenantIds: [...last.keys()].toSorted() };
}

/** The hash and the sealed payload of each, concatenated, with their byte offsets. */
function bytesOf(store: Store, submissions: readonly NewSubmission[]) {
  const parts: Uint8Array[] = [];
  const hashesFrom: number[] = [];
  const payloadsFrom: number[] = [];
  const payloadsTo: number[] = [];
  let length = 0;
  for (const submission of submissions) {
    const { payloadText, requestHash } = submission;
    const payload = store.sealer.seal(payloadPlace(submission), payloadText);
    parts.push(requestHash, payload);
    hashesFrom.push(length);
    payloadsFrom.push((length += requestHash.byteLength));
    payloadsTo.push((length += payload.byteLength));
  }
  return { bytes: Buffer.concat(parts, length), hashesFrom, payloadsFrom, payloadsTo };
}
