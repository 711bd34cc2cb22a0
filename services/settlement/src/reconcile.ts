import { batchIdsMax, toWireId, type ServiceFailureCode } from '@svc/domain';
import { publishCancelled, type connectRedis } from '@svc/queue';
import {
  clearReconcileFailures,
  findOverdue,
  isAnswerLost,
  isUnknownKey,
  recordReconcileFailures,
  rejectPending,
  storeServiceFailure,
  type OverdueCandidate,
  type CandidateCursor,
  type OverdueKind,
} from '@svc/store';
import { settleEach, type SettleDeps } from './settle.ts';

export interface ReconcileDeps extends SettleDeps {
  readonly redis: ReturnType<typeof connectRedis>;
  readonly redisPrefix: string;
  readonly countReconciled: (kind: OverdueKind) => void;
}

/** The most candidates in one page. One statement finds a whole page. */
const candidatesMax = 256;
const pagesMax = 20;

export interface ReconcileProgress {
  /** The next page starts after this candidate. Null: the next page is the first one. */
  after: CandidateCursor | null;
}

const failureCodes: Record<'not_started' | 'lease_expired' | 'run_limit', ServiceFailureCode> = {
  not_started: 'not_started',
  lease_expired: 'node_lost',
  run_limit: 'deadline_exceeded',
};

/**
 * Reconciles overdue submissions (CONTRACT 7, "Nothing hangs"). Passes may overlap. Throws at its
 * end if some failed for another reason than a missing master key.
 */
export async function reconcile(
  deps: ReconcileDeps,
  progress: ReconcileProgress = { after: null },
): Promise<void> {
  const errors: unknown[] = [];
  for (let page = 0; page < pagesMax; page += 1) {
    const { after } = progress;
    const found = await findOverdue(deps.store, { after, limit: candidatesMax });
    // The position moves before the page is processed. If an error in the page then ends this pass,
    // the next pass still starts after this page.
    progress.after = found.next;
    errors.push(...(await reconcilePage(deps, found.candidates)));
    if (found.next === null) break;
  }
  if (errors.length > 0) {
    throw new AggregateError(errors, `could not reconcile submissions: ${errors.length}`);
  }
}

async function reconcilePage(
  deps: ReconcileDeps,
  candidates: readonly OverdueCandidate[],
): Promise<unknown[]> {
  const due = candidates.filter(({ isInBackoff }) => !isInBackoff);
  const failed = new Map<string, unknown>();
  const toSettle: string[] = [];
  let tried = 0;
  for (const one of due) {
    tried += 1;
    try {
      if (await reconcileOne(deps, one)) toSettle.push(one.subjectId);
    } catch (error) {
      failed.set(one.subjectId, error);
      // Stops the loop if Postgres is unavailable, because each further candidate could wait for a
      // time-out.
      if (isAnswerLost(error)) break;
    }
  }
  for (let start = 0; start < toSettle.length; start += batchIdsMax) {
    const unsettled = await settleEach(deps, toSettle.slice(start, start + batchIdsMax));
    for (const { submissionId, error } of unsettled) failed.set(submissionId, error);
  }
  const settled = new Set(toSettle.filter((submissionId) => !failed.has(submissionId)));
  for (const one of due) {
    if (one.kind === 'unsettled' && settled.has(one.subjectId)) logReconciled(deps, one);
  }
  await recordFailures(deps, due.slice(0, tried), failed);
  return [...failed.values()].filter((error) => !isUnknownKey(error));
}

async function recordFailures(
  { store, logger }: ReconcileDeps,
  tried: readonly OverdueCandidate[],
  failed: ReadonlyMap<string, unknown>,
): Promise<void> {
  const failures = tried.flatMap(({ subjectId, kind }) => {
    if (!failed.has(subjectId)) return [];
    const error = failed.get(subjectId);
    // `settleEach` has logged a missing master key.
    if (!isUnknownKey(error))
      logger.warn(
        { err: error, submissionId: toWireId('sub', subjectId), kind },
        'could not reconcile a submission',
      );
    return [{ subjectId, kind, error }];
  });
  await recordReconcileFailures(store, 'settlement', failures);
  const cleared = tried.filter((one) => one.failedBefore && !failed.has(one.subjectId));
  await clearReconcileFailures(
    store,
    'settlement',
    cleared.map(({ subjectId }) => subjectId),
  );
}

/**
 * Reconciles one submission. Returns true if it must be settled next, false if this pass has
 * nothing more to do for it.
 */
async function reconcileOne(deps: ReconcileDeps, overdue: OverdueCandidate): Promise<boolean> {
  const { subjectId: submissionId, kind } = overdue;
  switch (kind) {
    case 'unsettled':
      return true;
    case 'stale_pending': {
      const outcome = await rejectPending(deps.store, submissionId, { onlyOverdue: true });
      if (outcome.kind === 'rejected') logReconciled(deps, overdue);
      return false;
    }
    case 'not_started':
    case 'lease_expired':
    case 'run_limit': {
      const code = failureCodes[kind];
      const outcome = await storeServiceFailure(deps.store, { submissionId, code });
      if (outcome.kind === 'refused') return false;
      logReconciled(deps, overdue);
      await cancelOnNode(deps, submissionId);
      return true;
    }
  }
}

function logReconciled(
  { logger, countReconciled }: ReconcileDeps,
  overdue: OverdueCandidate,
): void {
  const { subjectId: submissionId, kind } = overdue;
  countReconciled(kind);
  logger.warn(
    { submissionId: toWireId('sub', submissionId), kind },
    'reconciled an overdue submission',
  );
}

/**
 * Asks the dispatchers over the bus to send `cancel` to the node. A lost message does no harm: the
 * node's next `start` or `usage` also gets `cancel` (CONTRACT 7).
 */
async function cancelOnNode(deps: ReconcileDeps, submissionId: string): Promise<void> {
  try {
    await publishCancelled(deps.redis, deps.redisPrefix, submissionId);
  } catch (error) {
    const id = toWireId('sub', submissionId);
    deps.logger.warn(
      { err: error, submissionId: id },
      'could not ask the dispatchers to stop the work on a failed submission at its node',
    );
  }
}
