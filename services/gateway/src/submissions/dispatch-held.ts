import type { OfferFacts } from '@svc/contracts';
import { dispatchDeadlineMs, type Tier, toWireId } from '@svc/domain';
import type { ReplyNews } from '@svc/queue';
import { type NewSubmission, readDispatchOutcome, rejectPending } from '@svc/store';
import { traced } from '@svc/tracing';
import type { GatewayDeps } from '../deps.ts';
import { type Answer, unavailable } from '../http/answer.ts';
import { awaitDispatchOutcome, lookEveryMs } from './await-outcome.ts';
import { creationAnswer, type CreationState } from './creation-answer.ts';

/** The priority of a dispatch job in BullMQ, by tier. Jobs with 1 run first. */
const queuePriority: Readonly<Record<Tier, number>> = { instant: 1, priority: 2, standard: 3 };

export const unconfirmedCreation = unavailable(
  'unavailable',
  'The creation could not be confirmed. Repeat the request with the same idempotency key.',
);

/**
 * A submission whose hold is committed, with the data for its offers to nodes and for the answer to
 * its creation.
 */
export interface HeldSubmission {
  readonly kind: 'held';
  readonly submission: NewSubmission;
  readonly facts: OfferFacts;
  readonly availableAfterMicros: bigint;
  /** Unix time of the hold, by the database's clock. */
  readonly heldAtMs: number;
}

export async function dispatchHeld(deps: GatewayDeps, held: HeldSubmission): Promise<Answer> {
  const { id, tenantId, tier, requestId } = held.submission;
  // The wait begins before the job is enqueued, because a dispatcher's reply that nobody waits for
  // is dropped.
  let reply: Promise<ReplyNews | 'timeout'> | undefined = deps.replies.wait(id, lookEveryMs);
  try {
    const { heldAtMs, facts } = held;
    const toDispatch = { submissionId: id, tenantId, heldAtMs, facts };
    await traced(deps.tracing, { step: 'enqueue', subjectId: id }, () =>
      deps.enqueueDispatch(toDispatch, queuePriority[tier]),
    );
  } catch (error) {
    deps.logger.warn(
      { err: error, requestId, submissionId: toWireId('sub', id) },
      'could not enqueue the dispatch job',
    );
    return answerUnsent(deps, id);
  }
  return answerWhenDecided(
    deps,
    { id, remainingMs: dispatchDeadlineMs },
    {
      isReplay: false,
      pause: async (ms) => {
        const replied = reply ?? deps.replies.wait(id, ms);
        reply = undefined;
        return (await replied) === 'dispatched' ? asDispatched(held) : undefined;
      },
    },
  );
}

/**
 * The creation right after the commit of `dispatched`. Postgres is not read, because `quote` and
 * `availableAfterMicros` do not change after the hold.
 */
function asDispatched({ submission, availableAfterMicros }: HeldSubmission): CreationState {
  return {
    id: submission.id,
    state: 'dispatched',
    dispatched: true,
    quote: submission.quote,
    availableAfterMicros,
    chargedMicros: null,
    refundedMicros: null,
  };
}

/**
 * Answers a creation whose job could not be enqueued. The job may have reached Redis despite the
 * error, so a node may have accepted the submission.
 */
async function answerUnsent(deps: GatewayDeps, id: string): Promise<Answer> {
  const rejection = await rejectPending(deps.store, id, { onlyOverdue: false });
  if (rejection.kind === 'rejected') return unconfirmedCreation;
  const creation = await readDispatchOutcome(deps.store, id);
  if (creation === null || creation.state === 'rejected') return unconfirmedCreation;
  return creationAnswer(creation, { isReplay: false }) ?? unconfirmedCreation;
}

/**
 * Waits until a creation has its outcome (`awaitDispatchOutcome`), then returns the answer to it.
 * Returns `unconfirmedCreation` if the creation gets no outcome in time.
 */
export async function answerWhenDecided(
  deps: GatewayDeps,
  { id, remainingMs }: { readonly id: string; readonly remainingMs: number },
  {
    isReplay,
    pause,
  }: {
    readonly isReplay: boolean;
    readonly pause: (ms: number, attempt: number) => Promise<CreationState | undefined>;
  },
): Promise<Answer> {
  const creation = await awaitDispatchOutcome({
    read: () => readDispatchOutcome(deps.store, id),
    reject: () => rejectPending(deps.store, id, { onlyOverdue: true }),
    pause,
    monotonicMs: () => deps.clock.monotonicMs(),
    remainingMs,
  });
  if (creation === undefined) return unconfirmedCreation;
  return creationAnswer(creation, { isReplay }) ?? unconfirmedCreation;
}
