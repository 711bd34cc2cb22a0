import type { Store } from '../connection/store.ts';
import { inFlightStates } from '../schema/submission-states.ts';
import { isUnknownKey } from '../sealing/key-holders.ts';

/**
 * A row that cannot be reconciled is retried with backoff, so that other rows do not wait for it.
 */

export type ReconcilerName = 'settlement' | 'webhook' | 'purge';

export interface ReconcileFailure {
  /** The id of the submission or the delivery. */
  subjectId: string;
  /** The kind of work that failed, such as `unsettled`, `aged_delivery` or `expired`. */
  kind: string;
  error: unknown;
}

/**
 * After this many failures a row is a dead letter. It is listed for operators and still retried.
 */
export const deadLetterFailures = 5;
const backoffMsMin = 5_000;
const backoffMsMax = 900_000;
/**
 * The most rows in `reconcile_failures`. If the table is full, the failure of a further subject is
 * only logged, and each pass tries this subject again.
 */
export const reconcileFailuresMax = 10_000;
const errorLengthMax = 500;

/**
 * Records one more failure of each subject. A failure during the subject's backoff does not count.
 * A missing master key is a fault of this process, and is not recorded.
 */
export async function recordReconcileFailures(
  { query }: Store,
  reconciler: ReconcilerName,
  failures: readonly ReconcileFailure[],
): Promise<void> {
  const ofSubjects = failures.filter(({ error }) => !isUnknownKey(error));
  if (ofSubjects.length === 0) return;
  const sorted = ofSubjects.toSorted((one, other) => (one.subjectId < other.subjectId ? -1 : 1));
  await query(recordSql, [
    reconciler,
    sorted.map(({ subjectId }) => subjectId),
    sorted.map(({ kind }) => kind),
    sorted.map(({ error }) => messageOf(error)),
  ]);
}

const recordSql = `
  INSERT INTO reconcile_failures AS f (reconciler, subject_id, kind, failures, first_failed_at,
    last_failed_at, next_attempt_at, error)
  SELECT $1, r.subject_id, r.kind, 1, svc_now(), svc_now(),
    svc_now() + ${backoffMsMin} * interval '1 millisecond', r.error
  FROM unnest($2::uuid[], $3::text[], $4::text[]) WITH ORDINALITY AS r (subject_id, kind, error, place)
  WHERE r.place <= ${reconcileFailuresMax} - (SELECT count(*) FROM reconcile_failures)
    OR EXISTS (SELECT FROM reconcile_failures k WHERE k.reconciler = $1 AND k.subject_id = r.subject_id)
  ORDER BY r.subject_id
  ON CONFLICT (reconciler, subject_id) DO UPDATE SET kind = EXCLUDED.kind, error = EXCLUDED.error,
    failures = f.failures + 1, last_failed_at = svc_now(),
    next_attempt_at = svc_now() + interval '1 millisecond'
      * LEAST(${backoffMsMin} * 2 ^ LEAST(f.failures, 20), ${backoffMsMax})
  WHERE f.next_attempt_at <= svc_now()`;

/**
 * Returns the error's message as one line of at most `errorLengthMax` characters. The other fields
 * of the error are left out, because they may contain personal data.
 */
function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message
    .replaceAll('\0', '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toWellFormed()
    .slice(0, errorLengthMax);
}

export async function clearReconcileFailures(
  { query }: Store,
  reconciler: ReconcilerName,
  subjectIds: readonly string[],
): Promise<void> {
  if (subjectIds.length === 0) return;
  await query(
    'DELETE FROM reconcile_failures WHERE reconciler = $1 AND subject_id = ANY($2::uuid[])',
    [reconciler, subjectIds],
  );
}

/**
 * SQL that is true if the subject of the row `f` may need work. The states are parameters: with
 * literals, the planner might not use the primary keys of the tables.
 */
const stillFound = `CASE f.reconciler
  WHEN 'settlement' THEN EXISTS (SELECT FROM submissions s WHERE s.id = f.subject_id
    AND s.state = ANY($1::text[]))
  WHEN 'webhook' THEN EXISTS (SELECT FROM deliveries d WHERE d.id = f.subject_id AND d.status = ANY($2::text[]))
  ELSE COALESCE(
    (SELECT s.payload_sealed IS NOT NULL FROM submissions s WHERE s.id = f.subject_id), false) END`;

/** The values of $1 (states of submissions) and $2 (statuses of deliveries) in `stillFound`. */
const stillFoundValues = [inFlightStates, ['pending', 'queued']] as const;

/**
 * Deletes the failures of rows that need no more work of the reconciler. Returns how many dead
 * letters are left.
 */
export async function pruneReconcileFailures(
  store: Store,
  reconciler: ReconcilerName,
): Promise<number> {
  await store.query(
    `DELETE FROM reconcile_failures f WHERE f.reconciler = $3 AND NOT ${stillFound}`,
    [...stillFoundValues, reconciler],
  );
  const [row] = await store.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM reconcile_failures
     WHERE reconciler = $1 AND failures >= $2`,
    [reconciler, deadLetterFailures],
  );
  return row?.count ?? 0;
}

export interface DeadLetter {
  reconciler: ReconcilerName;
  subjectId: string;
  kind: string;
  failures: number;
  firstFailedAt: Date;
  lastFailedAt: Date;
  nextAttemptAt: Date;
  error: string;
}

export interface DeadLetters {
  /**
   * The number of rows at which a reconciler failed, but fewer than `deadLetterFailures` times.
   * Only rows that may still need work are counted.
   */
  retrying: number;
  /** The number of all dead letters that may still need work, listed or not. */
  count: number;
  /** At most `limit` dead letters, by the time of their first failure, the earliest first. */
  listed: DeadLetter[];
}

export async function readDeadLetters(store: Store, limit: number): Promise<DeadLetters> {
  const [counts] = await store.query<{ retrying: number; count: number }>(
    `SELECT (count(*) FILTER (WHERE failures < $3))::int AS retrying,
       (count(*) FILTER (WHERE failures >= $3))::int AS count
     FROM reconcile_failures f WHERE ${stillFound}`,
    [...stillFoundValues, deadLetterFailures],
  );
  const listed = await store.query<DeadLetter>(
    `SELECT reconciler, subject_id AS "subjectId", kind, failures, first_failed_at AS "firstFailedAt",
       last_failed_at AS "lastFailedAt", next_attempt_at AS "nextAttemptAt", error
     FROM reconcile_failures f WHERE failures >= $3 AND ${stillFound}
     ORDER BY first_failed_at, subject_id LIMIT $4`,
    [...stillFoundValues, deadLetterFailures, limit],
  );
  return { retrying: counts?.retrying ?? 0, count: counts?.count ?? 0, listed };
}

/**
 * Ends the backoff of each row at which this reconciler failed. Returns the number of rows that
 * were in backoff.
 */
export async function retryReconcileFailures(
  store: Store,
  reconciler: ReconcilerName,
): Promise<number> {
  const due = await store.query(
    `UPDATE reconcile_failures SET next_attempt_at = svc_now()
     WHERE reconciler = $1 AND next_attempt_at > svc_now() RETURNING 1`,
    [reconciler],
  );
  return due.length;
}
