import { batchIdsMax, toWireId, type ServiceFailureCode } from '@svc/domain';
import { publishCancelled, type connectRedis } from '@svc/queue';
import {
  findOverdue,
  rejectPending,
  storeServiceFailure,
  type OverdueKind,
  type OverdueSubmission,
} from '@svc/store';
import { settleSubmissions, type SettleDeps } from './settle.ts';

export interface ReconcileDeps extends SettleDeps {
  readonly redis: ReturnType<typeof connectRedis>;
  readonly redisPrefix: string;
  readonly countMended: (kind: OverdueKind) => void;
}

/** How much one round looks at; what is left over is the next round's. */
const overdueMax = 256;

const failureCodes: Record<'not_started' | 'lease_expired' | 'run_limit', ServiceFailureCode> = {
  not_started: 'not_started',
  lease_expired: 'node_lost',
  run_limit: 'deadline_exceeded',
};

/**
 * One round: finds in Postgres what should have gone on by itself and has not, and mends it
 * (CONTRACT section 7, "Nothing hangs"; DESIGN section 7). It takes no input, so that nothing that
 * was lost matters to it, and each case is looked at again where it is mended, so that rounds may
 * repeat and overlap. One case that fails does not keep the others waiting.
 * Throws where the database cannot be asked, or where anything could not be mended.
 */
export async function reconcile(deps: ReconcileDeps): Promise<void> {
  const overdue = await findOverdue(deps.store, overdueMax);
  const errors: unknown[] = [];
  const toSettle: string[] = [];
  for (const one of overdue) {
    try {
      if (await mend(deps, one)) toSettle.push(one.submissionId);
    } catch (error) {
      errors.push(error);
    }
  }
  for (let start = 0; start < toSettle.length; start += batchIdsMax) {
    try {
      await settleSubmissions(deps, toSettle.slice(start, start + batchIdsMax));
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) {
    throw new AggregateError(errors, `${errors.length} of ${overdue.length} could not be mended`);
  }
}

/** Brings one submission on; true where it is now to be settled. */
async function mend(deps: ReconcileDeps, overdue: OverdueSubmission): Promise<boolean> {
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
