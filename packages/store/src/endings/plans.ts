import {
  assertInvariant,
  decideEnding,
  type Ending,
  type EndingFacts,
  type EndingRequest,
  findRate,
  planEnding,
  type RateCard,
  type SubmissionState,
} from '@svc/domain';
import type { Store } from '../connection/store.ts';
import type { NewEvent } from '../deliveries/outbox.ts';
import type { TenantMovements } from '../ledger/movements.ts';
import { usageOfText } from '../pricing/rate-cards.ts';
import { endingEvents } from './events.ts';
import type { LockedAccount, LockedSubmission } from './locks.ts';

export interface Ended {
  submissionId: string;
  tenantId: string;
  /** `moved`: this call ended the submission. `kept`: this call did not change it. */
  kind: 'moved' | 'kept';
  state: SubmissionState;
  nodeId: string | null;
  /** The id of the request that created the submission. */
  requestId: string;
  chargedMicros: bigint | null;
  refundedMicros: bigint | null;
  /**
   * True if the node reported an amount above a cap in `usageCaps`. The service has reduced this
   * amount to the cap. `usageCaps` has no cap for node-seconds.
   */
  usageCapped: boolean;
  /**
   * Milliseconds from the stored outcome until this call locked the submission. Null without an
   * outcome.
   */
  outcomeAgeMs: number | null;
  deliveryIds: string[];
}

export interface EndingPlan {
  readonly submission: LockedSubmission;
  readonly ending: Ending;
  readonly movements: TenantMovements;
  readonly events: readonly NewEvent[];
}

/**
 * Returns null if `request` does not end the submission. Otherwise returns the plan and writes the
 * account's new figures into `accounts`.
 */
export function planOne(
  store: Store,
  accounts: Map<string, LockedAccount>,
  submission: LockedSubmission,
  /** Undefined if the database lacks the card. The submission then ends only without a price. */
  card: RateCard | undefined,
  request: EndingRequest,
): EndingPlan | null {
  const { id: submissionId, tenantId } = submission;
  const account = accounts.get(tenantId);
  assertInvariant(account !== undefined, 'every tenant has an account');
  const ending = decideEnding(factsOf(submission, card), request);
  if (ending === null) return null;
  const { movements, after } = planEnding(account, {
    heldMicros: submission.quoteMaxMicros,
    chargeMicros: ending.chargeMicros,
    rebateMillionths: BigInt(submission.rebateMillionths),
  });
  // The tenant's next ending in the batch starts from these figures.
  accounts.set(tenantId, { ...account, ...after });
  return {
    submission,
    ending,
    movements: { tenantId, submissionId, movements },
    events: endingEvents(store, { submission, ending, account, after }),
  };
}

export function endedOf(
  submission: LockedSubmission,
  plan: EndingPlan | null,
  deliveryIds: string[],
): Ended {
  const { id: submissionId, tenantId, nodeId, requestId, quoteMaxMicros } = submission;
  const { usageCapped, outcomeAgeMs } = submission;
  const chargedMicros = plan === null ? submission.chargedMicros : plan.ending.chargeMicros;
  return {
    submissionId,
    tenantId,
    kind: plan === null ? 'kept' : 'moved',
    state: plan === null ? submission.state : plan.ending.to,
    nodeId,
    requestId,
    chargedMicros,
    refundedMicros: chargedMicros === null ? null : quoteMaxMicros - chargedMicros,
    usageCapped,
    outcomeAgeMs: outcomeAgeMs === null ? null : Number(outcomeAgeMs),
    deliveryIds,
  };
}

function factsOf(submission: LockedSubmission, card: RateCard | undefined): EndingFacts {
  return {
    state: submission.state,
    rate: card === undefined ? undefined : findRate(card, submission.jobType, submission.tier),
    surgeMicros: submission.surgeMicros,
    outcomeKind: submission.outcomeKind,
    usage: usageOfText(submission.usage),
    runningMs: submission.runningMs,
    dispatchOverdueMs: submission.dispatchOverdueMs,
  };
}
