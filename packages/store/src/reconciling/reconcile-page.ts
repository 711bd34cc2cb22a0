import { isAnswerLost } from '../connection/errors.ts';
import type { ValuesOf } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';
import {
  clearReconcileFailures,
  type ReconcileFailure,
  type ReconcilerName,
  recordReconcileFailures,
} from './reconcile-failures.ts';

export interface ReconcileCandidate {
  subjectId: string;
  failedBefore: boolean;
  isInBackoff: boolean;
}

/**
 * A position in the list of candidates, which is sorted by `at`, then by `subjectId`. `at` is a
 * time as Postgres prints it.
 */
export interface CandidateCursor {
  at: string;
  subjectId: string;
}

/** A page with fewer rows than its limit is the last one. Its `next` is null. */
export interface CandidatePage<Candidate extends ReconcileCandidate> {
  candidates: Candidate[];
  next: CandidateCursor | null;
}

/** `after` is the end of the previous page. Null for the first page. */
export interface PageOptions {
  after: CandidateCursor | null;
  limit: number;
}

export const pageParameters = { after_at: 'timestamptz', after_id: 'uuid', limit: 'int' } as const;

const nilId = '00000000-0000-0000-0000-000000000000';

export function pageValues({ after, limit }: PageOptions): ValuesOf<typeof pageParameters> {
  return {
    after_at: after?.at ?? '-infinity',
    after_id: after?.subjectId ?? nilId,
    limit,
  };
}

/**
 * SQL for a page of candidates from `rows`, a `SELECT` with `id` and `at` that is sorted by both.
 * `columns` adds columns and ends with a comma, as in `c.node_id,`.
 */
export function candidatesSql(
  reconciler: ReconcilerName,
  { columns = '', rows }: { columns?: string; rows: string },
): string {
  // The page includes candidates in backoff. If the statement skipped them, it could read many rows
  // until the page is full.
  return `
  SELECT c.id AS "subjectId", c.at::text AS at, ${columns}
    f.next_attempt_at IS NOT NULL AS "failedBefore",
    COALESCE(f.next_attempt_at > svc_now(), false) AS "isInBackoff"
  FROM (${rows}) c
  LEFT JOIN LATERAL (
    SELECT next_attempt_at FROM reconcile_failures
    WHERE reconciler = '${reconciler}' AND subject_id = c.id LIMIT 1) f ON true
  ORDER BY c.at, c.id`;
}

export function pageOf<Candidate extends ReconcileCandidate>(
  rows: readonly (Candidate & { at: string })[],
  limit: number,
): CandidatePage<Candidate> {
  const last = rows.length < limit ? undefined : rows.at(-1);
  const next = last === undefined ? null : { at: last.at, subjectId: last.subjectId };
  return { candidates: [...rows], next };
}

/**
 * Calls `act` for all candidates not in backoff, and for each alone if that call throws. If an
 * answer is lost (`isAnswerLost`), throws and records no failure.
 */
export async function reconcileTogether(
  store: Store,
  { reconciler, kind }: { reconciler: ReconcilerName; kind: string },
  candidates: readonly ReconcileCandidate[],
  /** Returns how many it reconciled. */
  act: (subjectIds: readonly string[]) => Promise<number>,
): Promise<{ count: number; failures: ReconcileFailure[] }> {
  const due = candidates.filter(({ isInBackoff }) => !isInBackoff);
  if (due.length === 0) return { count: 0, failures: [] };
  const ids = due.map(({ subjectId }) => subjectId);
  const failures: ReconcileFailure[] = [];
  let count = 0;
  try {
    count = await act(ids);
  } catch (refusal) {
    if (isAnswerLost(refusal)) throw refusal;
    for (const subjectId of ids) {
      try {
        count += await act([subjectId]);
      } catch (error) {
        if (isAnswerLost(error)) throw error;
        failures.push({ subjectId, kind, error });
      }
    }
  }
  await recordReconcileFailures(store, reconciler, failures);
  const failed = new Set(failures.map(({ subjectId }) => subjectId));
  const cleared = due.filter((one) => one.failedBefore && !failed.has(one.subjectId));
  await clearReconcileFailures(
    store,
    reconciler,
    cleared.map(({ subjectId }) => subjectId),
  );
  return { count, failures };
}
