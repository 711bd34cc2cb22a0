import { isAnswerLost } from '../connection/errors.ts';
import type { Store } from '../connection/store.ts';
import {
  clearReconcileFailures,
  type ReconcileFailure,
  type ReconcilerName,
  recordReconcileFailures,
} from './reconcile-failures.ts';

/** A row that a reconciler found, with the result of earlier attempts. */
export interface ReconcileCandidate {
  subjectId: string;
  failedBefore: boolean;
  /** Its backoff has not ended. */
  isInBackoff: boolean;
}

/**
 * Reconciles the candidates that are not in backoff: together, or one by one if the database
 * refuses them together. `act` returns how many it reconciled. Records the failures and clears
 * earlier failures of rows that succeeded. Throws only if the database does not answer.
 */
export async function reconcileTogether(
  store: Store,
  { reconciler, kind }: { reconciler: ReconcilerName; kind: string },
  candidates: readonly ReconcileCandidate[],
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
