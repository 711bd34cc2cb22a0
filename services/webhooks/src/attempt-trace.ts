import { fromWireId, toWireId } from '@svc/domain';
import type { OutboundOutcome } from '@svc/runtime';
import type { ClaimedAttempt } from '@svc/store';
import type { StepRef, Tracing } from '@svc/tracing';

interface DeliverStep {
  readonly ref: StepRef;
  /**
   * False if the event cannot be decrypted or is not about a submission. The span then belongs to a
   * trace of the event.
   */
  readonly isSubmission: boolean;
}

const submissionIdPattern = /"submissionId":"(sub_[0-7][0-9a-z]{25})"/;

/**
 * Returns the reference to the span of an attempt. Its key has the delivery, the round and the
 * attempt number, so each attempt has its own span.
 */
export function deliverStep(attempt: ClaimedAttempt): DeliverStep {
  const { deliveryId, eventId, round, attemptNumber, body } = attempt;
  const [, wireId = ''] = submissionIdPattern.exec(body ?? '') ?? [];
  const submissionId = fromWireId('sub', wireId);
  const key = `${deliveryId}/${round}/${attemptNumber}`;
  const ref = { step: 'deliver', subjectId: submissionId ?? eventId, key } as const;
  return { ref, isSubmission: submissionId !== undefined };
}

/** The span has neither the URL nor its host, because both may be secret. */
export function recordDeliverSpan(
  tracing: Tracing,
  attempt: ClaimedAttempt,
  outcome: OutboundOutcome,
  startMs: number,
): void {
  if (!tracing.isOn) return;
  const { ref, isSubmission } = deliverStep(attempt);
  if (!tracing.isTraced(ref.subjectId)) return;
  const status = outcome.kind === 'responded' ? outcome.statusCode : undefined;
  tracing.record({
    ...ref,
    isSubmission,
    startMs,
    error: errorOf(outcome),
    attributes: {
      'http.response.status_code': status,
      'http.request.resend_count':
        attempt.attemptNumber > 1 ? attempt.attemptNumber - 1 : undefined,
      'svc.event.type': attempt.type,
      'svc.event.id': toWireId('evt', attempt.eventId),
      'svc.delivery.id': toWireId('dlv', attempt.deliveryId),
      'svc.tenant.id': toWireId('tnt', attempt.tenantId),
    },
  });
}

/**
 * The error of an attempt in its trace. Undefined for a response with a status below 400. The
 * reason of a failure is left out, because it may contain a host.
 */
function errorOf(outcome: OutboundOutcome): string | undefined {
  switch (outcome.kind) {
    case 'responded':
      return outcome.statusCode >= 400 ? String(outcome.statusCode) : undefined;
    case 'refused':
      return 'refused';
    case 'failed':
      return outcome.timedOut ? 'timeout' : 'connection_failed';
  }
}
