import { dispatchDeadlineMs, firstState, type Tier } from '@svc/domain';
import type { Attempt } from '../connection/batch-run.ts';
import { batched } from '../connection/batching.ts';
import { concatenated } from '../connection/concatenated.ts';
import { sqlState, uniqueViolation } from '../connection/errors.ts';
import { statement } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';
import { holdsItsKey } from '../schema/submission-states.ts';
import { payloadPlace } from '../sealing/sealed.ts';
import { type HeldFigures, recogniseOwn } from './own-holds.ts';
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
  /**
   * JSON text, exactly as the tenant sent it. It is stored sealed, and is sent to the node
   * unchanged.
   */
  payloadText: string;
  quote: StoredQuote & { rateCardVersion: number };
  /**
   * The epoch of the credentials that authenticated the request. The hold is refused if the account
   * has another epoch. Null or undefined: not compared.
   */
  accountEpoch?: bigint | null;
}

export type HoldOutcome =
  | ({ kind: 'held' } & HeldFigures)
  /**
   * The account's epoch is not `accountEpoch`. So the `TenantCredentials` may have changed since
   * they were read from Postgres.
   */
  | { kind: 'stale_credentials' }
  /**
   * Another submission of the tenant has the idempotency key and was not rejected. Or the hold was
   * not tried, because an earlier one of its batch has the same key.
   */
  | { kind: 'key_taken' }
  | { kind: 'in_flight_max' }
  | { kind: 'insufficient_credits' };

const holdBatchesInFlightMax = 2;

const holdInBatch = batched<NewSubmission, HoldOutcome>({
  run: holdSubmissions,
  inFlightMax: holdBatchesInFlightMax,
  answerMsMax: dispatchDeadlineMs,
  shared: { intent: 'hold', submissionIdOf: ({ id }) => id },
});

/**
 * Holds `quote.max` and writes the submission, or does neither (CONTRACT 3). The reasons to refuse
 * are checked in the order of `HoldOutcome`. Exception: see `holdSubmissions`.
 */
export function holdSubmission(store: Store, submission: NewSubmission): Promise<HoldOutcome> {
  return holdInBatch(store, submission);
}

/**
 * Places the holds as if in separate calls (decision 9). Exception: a hold with the tenant, key and
 * epoch of an earlier one is not tried (`firstOfEachKey`).
 */
export async function holdSubmissions(
  store: Store,
  submissions: readonly NewSubmission[],
  attempt: Attempt = 'first',
): Promise<HoldOutcome[]> {
  const outcomes = await placeAll(store, submissions);
  // The first attempt may have committed a hold. `placeAll` then refuses it in the repeat, for
  // example because its key is taken. `recogniseOwn` corrects such outcomes.
  return attempt === 'repeat' ? recogniseOwn(store, submissions, outcomes) : outcomes;
}

async function placeAll(
  store: Store,
  submissions: readonly NewSubmission[],
): Promise<HoldOutcome[]> {
  const firsts = firstOfEachKey(submissions);
  try {
    const rows = await insertHeld(store, [...firsts.values()]);
    const byPosition = new Map(rows.map((row) => [row.position, row]));
    const outcomes = new Map(
      [...firsts.keys()].map((key, index) => [key, outcomeOf(byPosition.get(index + 1))]),
    );
    return submissions.map((submission) => {
      const outcome = outcomes.get(batchKeyOf(submission));
      const isFirst = firsts.get(batchKeyOf(submission)) === submission;
      const isFinal = outcome !== undefined && (isFirst || outcome.kind === 'stale_credentials');
      return isFinal ? outcome : { kind: 'key_taken' };
    });
  } catch (error) {
    // If another statement takes one of the keys at the same moment, the unique index refuses all
    // holds. `runBatch` then runs them one by one (decision 9).
    if (submissions.length > 1 || sqlState(error) !== uniqueViolation) throw error;
    return [{ kind: 'key_taken' }];
  }
}

function firstOfEachKey(submissions: readonly NewSubmission[]): Map<string, NewSubmission> {
  const byKey = new Map<string, NewSubmission>();
  for (const submission of submissions) {
    const key = batchKeyOf(submission);
    if (!byKey.has(key)) byKey.set(key, submission);
  }
  return byKey;
}

function batchKeyOf({ tenantId, accountEpoch, idempotencyKey }: NewSubmission): string {
  // Holds with the same idempotency key and different epochs must both go to the statement, because
  // only the statement knows the epoch of the account.
  return `${tenantId} ${accountEpoch} ${idempotencyKey}`;
}

interface HoldRow {
  /** The position among the holds that are sent to the statement, from 1. */
  position: number;
  is_stale: boolean;
  key_taken: boolean;
  has_room: boolean;
  /** The available micros after the hold. Null if the hold was not granted. */
  available_after: bigint | null;
  held_at_ms: number;
}

/**
 * `row` is undefined for a tenant without an account. The outcome is then `insufficient_credits`.
 */
function outcomeOf(row: HoldRow | undefined): HoldOutcome {
  if (row?.is_stale === true) return { kind: 'stale_credentials' };
  if (row?.key_taken === true) return { kind: 'key_taken' };
  if (row?.has_room === false) return { kind: 'in_flight_max' };
  if (row === undefined || row.available_after === null) return { kind: 'insufficient_credits' };
  return { kind: 'held', availableAfterMicros: row.available_after, heldAtMs: row.held_at_ms };
}

// The lateral joins of `placeHolds` make the planner use indexes. `>=` and `ORDER BY` make the
// planner choose the index of idempotency keys (decision 23).

/**
 * Computes the new figures from the locked rows. If the UPDATE added to `held_micros`, it could use
 * a value from before the lock, and a CHECK could refuse a valid hold.
 */
const placeHolds = statement(
  {
    tenant_id: 'uuid[]',
    idempotency_key: 'text[]',
    max: 'bigint[]',
    turn: 'int[]',
    epoch: 'bigint[]',
    account_tenant_id: 'uuid[]',
    id: 'uuid[]',
    entry_id: 'uuid[]',
    request_id: 'text[]',
    job_type: 'text[]',
    tier: 'text[]',
    state: 'text',
    estimated: 'bigint[]',
    surge: 'bigint[]',
    rate_card_version: 'int[]',
    bytes: 'bytea',
    hash_from: 'int[]',
    hash_to: 'int[]',
    payload_from: 'int[]',
    payload_to: 'int[]',
  },
  `
  WITH RECURSIVE checked AS MATERIALIZED (
    SELECT r.*, earlier.tenant_id IS NOT NULL AS key_taken
    FROM unnest($tenant_id, $idempotency_key, $max, $turn, $epoch) WITH ORDINALITY
      AS r (tenant_id, idempotency_key, max, turn, epoch, position)
    LEFT JOIN LATERAL (
      SELECT s.tenant_id, s.idempotency_key FROM submissions s
      WHERE (s.tenant_id, s.idempotency_key) >= (r.tenant_id, r.idempotency_key) AND s.${holdsItsKey}
      ORDER BY s.tenant_id, s.idempotency_key LIMIT 1) earlier
    ON earlier.tenant_id = r.tenant_id AND earlier.idempotency_key = r.idempotency_key
  ), walk AS (
    SELECT a.tenant_id, 0 AS turn, 0::bigint AS position, 0::bigint AS max, a.epoch, false AS is_stale,
      false AS key_taken, false AS granted, true AS has_room, a.balance_micros - a.held_micros AS available,
      a.in_flight, COALESCE(a.in_flight_max, 2147483647) AS in_flight_max, a.balance_micros AS balance
    FROM unnest($account_tenant_id) AS t (tenant_id)
    CROSS JOIN LATERAL (
      SELECT * FROM credit_accounts c WHERE c.tenant_id = t.tenant_id FOR UPDATE) a
    UNION ALL
    SELECT w.tenant_id, c.turn, c.position, c.max, w.epoch, d.is_stale, c.key_taken, d.granted,
      w.in_flight < w.in_flight_max,
      CASE WHEN d.granted THEN w.available - c.max ELSE w.available END,
      w.in_flight + d.granted::int, w.in_flight_max, w.balance
    FROM walk w JOIN checked c ON c.tenant_id = w.tenant_id AND c.turn = w.turn + 1
    CROSS JOIN LATERAL (SELECT c.epoch <> w.epoch IS TRUE AS is_stale,
      c.epoch <> w.epoch IS NOT TRUE AND NOT c.key_taken AND w.in_flight < w.in_flight_max
        AND c.max <= w.available AS granted) d
  ), submission AS (
    INSERT INTO submissions (id, tenant_id, idempotency_key, request_hash, request_id, job_type, tier,
      state, payload_sealed, quote_estimated_micros, quote_max_micros, surge_micros, rate_card_version,
      available_after_micros, dispatch_deadline_at, created_at)
    SELECT ($id)[position], tenant_id, ($idempotency_key)[position],
      substring($bytes FROM ($hash_from)[position] + 1 FOR ($hash_to)[position] - ($hash_from)[position]),
      ($request_id)[position], ($job_type)[position], ($tier)[position], $state,
      substring($bytes FROM ($payload_from)[position] + 1 FOR ($payload_to)[position] - ($payload_from)[position]),
      ($estimated)[position], max, ($surge)[position], ($rate_card_version)[position], available,
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
    SELECT ($entry_id)[position], tenant_id, 'hold', 'tenant_available', 'tenant_held', max, balance,
      balance - available, ($id)[position], svc_now()
    FROM walk WHERE granted AND max > 0 ORDER BY position
  )
  SELECT position::int AS position, is_stale, key_taken, has_room, CASE WHEN granted THEN available END AS available_after,
    round(extract(epoch FROM svc_now()) * 1000)::float8 AS held_at_ms
  FROM walk WHERE turn > 0`,
);

function insertHeld(store: Store, submissions: readonly NewSubmission[]): Promise<HoldRow[]> {
  const quotes = submissions.map(({ quote }) => quote);
  const { turns, tenantIds } = turnsOf(submissions);
  return placeHolds<HoldRow>(store.query, {
    tenant_id: submissions.map(({ tenantId }) => tenantId),
    idempotency_key: submissions.map(({ idempotencyKey }) => idempotencyKey),
    max: quotes.map(({ maxMicros }) => maxMicros),
    turn: turns,
    epoch: submissions.map(({ accountEpoch }) => accountEpoch ?? null),
    account_tenant_id: tenantIds,
    id: submissions.map(({ id }) => id),
    entry_id: submissions.map(() => store.newId()),
    request_id: submissions.map(({ requestId }) => requestId),
    job_type: submissions.map(({ jobType }) => jobType),
    tier: submissions.map(({ tier }) => tier),
    state: firstState,
    estimated: quotes.map(({ estimatedMicros }) => estimatedMicros),
    surge: quotes.map(({ surgeMicros }) => surgeMicros),
    rate_card_version: quotes.map(({ rateCardVersion }) => rateCardVersion),
    ...bytesOf(store, submissions),
  });
}

/**
 * The turn of a hold is its position among the holds of its tenant in this batch, from 1.
 * `tenantIds` are sorted, so that two batches lock the accounts in the same order.
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

function bytesOf(store: Store, submissions: readonly NewSubmission[]) {
  const hashes = submissions.map(({ requestHash }) => requestHash);
  const payloads = submissions.map((submission) =>
    store.sealer.seal(payloadPlace(submission), submission.payloadText),
  );
  const { bytes, from, to } = concatenated([...hashes, ...payloads]);
  const count = submissions.length;
  return {
    bytes,
    hash_from: from.slice(0, count),
    hash_to: to.slice(0, count),
    payload_from: from.slice(count),
    payload_to: to.slice(count),
  };
}
