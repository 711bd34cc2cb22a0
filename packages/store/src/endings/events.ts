import {
  type AccountFigures,
  assertInvariant,
  crossesLowBalance,
  type Ending,
  type EndingEvent,
  eventBody,
  type EventType,
  failureTraits,
  lowBalanceEventData,
  submissionEventData,
  toWireId,
} from '@svc/domain';
import type { Store } from '../connection/store.ts';
import type { NewEvent } from '../deliveries/outbox.ts';
import { unsealOutcome } from '../submissions/submissions.ts';
import type { LockedAccount, LockedSubmission } from './locks.ts';

interface EndedSubmission {
  submission: LockedSubmission;
  ending: Ending;
  /** The account before this ending. `after` has its figures after the ending. */
  account: LockedAccount;
  after: AccountFigures;
}

/**
 * The events of an ending (CONTRACT 6). `credits.low_balance` follows if the ending takes the
 * tenant's balance below the threshold. A rejection has no events.
 */
export function endingEvents(store: Store, ended: EndedSubmission): NewEvent[] {
  const { submission, account, after } = ended;
  const event = endingEvent(store, ended);
  if (event === null) return [];
  const events = [
    newEvent(ended, `submission.${event.kind}`, submission.id, submissionEventData(event)),
  ];
  const thresholdMicros = account.lowBalanceThresholdMicros;
  if (crossesLowBalance(account.balanceMicros, after.balanceMicros, thresholdMicros)) {
    const { balanceMicros, heldMicros } = after;
    const data = lowBalanceEventData({ balanceMicros, heldMicros, thresholdMicros });
    events.push(newEvent(ended, 'credits.low_balance', null, data));
  }
  return events;
}

function endingEvent(store: Store, { submission, ending }: EndedSubmission): EndingEvent | null {
  const figures = {
    submissionId: toWireId('sub', submission.id),
    jobType: submission.jobType,
    tier: submission.tier,
    actualMicros: ending.chargeMicros,
    refundedMicros: submission.quoteMaxMicros - ending.chargeMicros,
  };
  switch (ending.to) {
    case 'submitted':
      return { ...figures, kind: 'completed' };
    case 'cancelled':
      return { ...figures, kind: 'cancelled', by: ending.by };
    case 'failed': {
      const code = submission.failureCode;
      assertInvariant(code !== null, 'a failed submission has a failure code');
      const { id, tenantId, outcomeKind: kind, outcomeSealed: sealed } = submission;
      const { message = '' } = unsealOutcome(store, { id, tenantId, kind, sealed });
      const { statedRetriable } = submission;
      const begun = submission.runningMs !== null;
      return {
        ...figures,
        kind: 'failed',
        failure: { code, message, ...failureTraits({ code, begun, statedRetriable }) },
      };
    }
    case 'rejected':
      return null;
  }
}

function newEvent(
  { submission }: EndedSubmission,
  type: EventType,
  submissionId: string | null,
  data: object,
): NewEvent {
  return {
    tenantId: submission.tenantId,
    type,
    submissionId,
    requestId: submission.requestId,
    notified: submission.notified,
    endpoints: submission.endpoints,
    body: (id) => eventBody({ id: toWireId('evt', id), type, at: submission.now, data }),
  };
}
