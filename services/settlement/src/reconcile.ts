import { batchIdsMax, toWireId, type ServiceFailureCode } from '@svc/domain';
import { publishCancelled, type connectRedis } from '@svc/queue';
import {
  clearReconcileFailures,
  findOverdue,
  isAnswerLost,
  recordReconcileFailures,
  rejectPending,
  storeServiceFailure,
  type OverdueCandidate,
  type OverdueCursor,
  type OverdueKind,
  type OverdueSubmission,
} from '@svc/store';
import { settleEach, type SettleDeps } from './settle.ts';

export interface ReconcileDeps extends SettleDeps {
  readonly redis: ReturnType<typeof connectRedis>;
  readonly redisPrefix: string;
  readonly countMended: (kind: OverdueKind) => void;
}

/** How many candidates one statement looks at, and how many statements one round makes. */
const candidatesMax = 256;
const pagesMax = 20;

/** Where the next round goes on. */
export interface ReconcileProgress {
  after: OverdueCursor | null;
}

const failureCodes: Record<'not_started' | 'lease_expired' | 'run_limit', ServiceFailureCode> = {
  not_started: 'not_started',
  lease_expired: 'node_lost',
  run_limit: 'deadline_exceeded',
};

/**
 * One round: finds in Postgres what should have gone on by itself and has not, and brings it on
 * (CONTRACT 7, "Nothing hangs"). It takes no input but where the last round stopped, so that
 * nothing that was lost matters to it. Each case is checked again where it is brought on, so that
 * rounds may repeat and overlap.
 *
 * It goes through all candidates, page by page. One that fails is put off with a backoff, so that
 * rows that cannot be reconciled keep no others waiting; in the end it is a dead letter, which `svc
 * status` lists. Throws if the database does not answer, or if anything could not be reconciled.
 */
export async function reconcile(
  deps: ReconcileDeps,
  progress: ReconcileProgress = { after: null },
): Promise<void> {
  const errors: unknown[] = [];
  let looked = 0;
  for (let page = 0; page < pagesMax; page += 1) {
    const { after } = progress;
    const found = await findOverdue(deps.store, { after, limit: candidatesMax });
    // Before the page is worked on: one that breaks the round off is not in the way of the next.
    progress.after = found.next;
    looked += found.candidates.length;
    errors.push(...(await reconcilePage(deps, found.candidates)));
    if (found.next === null) break;
  }
  if (errors.length > 0) {
    throw new AggregateError(errors, `${errors.length} of ${looked} could not be reconciled`);
  }
}

/** Brings a page on and remembers what failed; returns the errors. */
async function reconcilePage(
  deps: ReconcileDeps,
  candidates: readonly OverdueCandidate[],
): Promise<unknown[]> {
  const due = candidates.filter(({ putOff }) => !putOff);
  const failed = new Map<string, unknown>();
  const toSettle: string[] = [];
  let tried = 0;
  for (const one of due) {
    tried += 1;
    try {
      if (await bringOn(deps, one)) toSettle.push(one.submissionId);
    } catch (error) {
      failed.set(one.submissionId, error);
      // The others would wait for the same silence, each for itself.
      if (isAnswerLost(error)) break;
    }
  }
  for (let start = 0; start < toSettle.length; start += batchIdsMax) {
    const unsettled = await settleEach(deps, toSettle.slice(start, start + batchIdsMax));
    for (const { submissionId, error } of unsettled) failed.set(submissionId, error);
  }
  await remember(deps, due.slice(0, tried), failed);
  return [...failed.values()];
}

async function remember(
  { store, logger }: ReconcileDeps,
  tried: readonly OverdueCandidate[],
  failed: ReadonlyMap<string, unknown>,
): Promise<void> {
  const failures = tried.flatMap(({ submissionId, kind }) => {
    if (!failed.has(submissionId)) return [];
    const error = failed.get(submissionId);
    logger.warn(
      { err: error, submissionId: toWireId('sub', submissionId), kind },
      'could not reconcile a submission',
    );
    return [{ subjectId: submissionId, kind, error }];
  });
  await recordReconcileFailures(store, 'settlement', failures);
  const cleared = tried.filter((one) => one.failedBefore && !failed.has(one.submissionId));
  await clearReconcileFailures(
    store,
    'settlement',
    cleared.map(({ submissionId }) => submissionId),
  );
}

/** Brings one submission on; true where it is now to be settled. */
async function bringOn(deps: ReconcileDeps, overdue: OverdueSubmission): Promise<boolean> {
  const { submissionId, kind } = overdue;
  switch (kind) {
    case 'unsettled':
      tell(deps, overdue);
      return true;
    case 'stale_pending': {
      const outcome = await rejectPending(deps.store, submissionId, { onlyOverdue: true });
      if (outcome.kind === 'rejected') tell(deps, overdue);
      return false;
    }
    case 'not_started':
    case 'lease_expired':
    case 'run_limit': {
      const code = failureCodes[kind];
      const outcome = await storeServiceFailure(deps.store, { submissionId, code });
      if (outcome.kind === 'refused') return false;
      tell(deps, overdue);
      await cancelOnNode(deps, submissionId);
      return true;
    }
  }
}

function tell({ logger, countMended }: ReconcileDeps, overdue: OverdueSubmission): void {
  const { submissionId, kind } = overdue;
  countMended(kind);
  logger.warn({ submissionId: toWireId('sub', submissionId), kind }, 'mended what was overdue');
}

/** Lost, this costs only time: the node's next frame about the submission is answered `cancel`. */
async function cancelOnNode(deps: ReconcileDeps, submissionId: string): Promise<void> {
  try {
    await publishCancelled(deps.redis, deps.redisPrefix, submissionId);
  } catch (error) {
    const id = toWireId('sub', submissionId);
    deps.logger.warn({ err: error, submissionId: id }, 'could not tell the dispatchers');
  }
}
