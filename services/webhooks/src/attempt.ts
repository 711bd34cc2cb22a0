import { toWireId, webhookResponseKeptBytesMax, webhookTimeoutMs } from '@svc/domain';
import {
  failpoint,
  withRequestId,
  type Clock,
  type Logger,
  type OutboundHttp,
  type OutboundOutcome,
} from '@svc/runtime';
import { signWebhook } from '@svc/signing';
import { recordAttempt, type AttemptVerdict, type ClaimedAttempt, type Store } from '@svc/store';
import type { Tracing } from '@svc/tracing';
import { deliverStep, recordDeliverSpan } from './attempt-trace.ts';
import { decideVerdict } from './verdict.ts';

export interface AttemptDeps {
  readonly store: Store;
  readonly http: OutboundHttp;
  readonly backoffSeconds: readonly number[];
  readonly clock: Clock;
  readonly tracing: Tracing;
  /** Returns a random number from 0 to 1. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly countAttempt: (verdict: AttemptVerdict['kind']) => void;
  /** `nowMs` is the Unix time at the end of the attempt. */
  readonly timeAttempt: (attempt: ClaimedAttempt, outcome: OutboundOutcome, nowMs: number) => void;
  /**
   * The time limit of one request, from the DNS look-up to the last byte of the response. Default:
   * `webhookTimeoutMs`.
   */
  readonly timeoutMs?: number;
}

export interface MadeAttempt {
  readonly attempt: ClaimedAttempt;
  readonly outcome: OutboundOutcome;
  readonly verdict: AttemptVerdict;
}

const userAgent = 'svc-webhooks/1';

/** Sends a claimed attempt and decides what follows (CONTRACT 6). Never throws. */
export async function makeAttempt(
  deps: AttemptDeps,
  attempt: ClaimedAttempt,
  signal: AbortSignal,
): Promise<MadeAttempt> {
  const startMs = deps.tracing.nowMs();
  const outcome = await send(deps, attempt, signal);
  recordDeliverSpan(deps.tracing, attempt, outcome, startMs);
  const nowMs = deps.clock.nowMs();
  deps.timeAttempt(attempt, outcome, nowMs);
  const verdict = decideVerdict({
    outcome,
    attemptNumber: attempt.attemptNumber,
    backoffSeconds: deps.backoffSeconds,
    jitter: deps.random(),
    nowMs,
  });
  return { attempt, outcome, verdict };
}

/**
 * Records an attempt that was made. Returns the delay of the retry in milliseconds, or null if this
 * attempt leads to no retry.
 */
export async function recordMade(deps: AttemptDeps, made: MadeAttempt): Promise<number | null> {
  const { attempt, outcome } = made;
  await failpoint('webhook.sent');
  const { status } = await recordAttempt(deps.store, {
    deliveryId: attempt.deliveryId,
    tenantId: attempt.tenantId,
    targetId: attempt.targetId,
    round: attempt.round,
    attemptNumber: attempt.attemptNumber,
    url: attempt.url,
    ...observed(outcome),
    verdict: made.verdict,
  });
  // The store exhausts a delivery if the retry would come 72 hours or more after the round began.
  const isOver = made.verdict.kind === 'retry' && status === 'exhausted';
  const verdict: AttemptVerdict = isOver ? { kind: 'exhausted' } : made.verdict;
  logAttempt(deps, attempt, outcome, verdict);
  return verdict.kind === 'retry' && status === 'pending' ? verdict.delayMs : null;
}

async function send(
  { http, clock, tracing, timeoutMs = webhookTimeoutMs }: AttemptDeps,
  attempt: ClaimedAttempt,
  signal: AbortSignal,
): Promise<OutboundOutcome> {
  const { url, body, secrets } = attempt;
  if (secrets.length === 0)
    return refused('the service has no webhook secret for this URL, or cannot decrypt it');
  if (body === null) return refused('the service cannot decrypt the event');
  const timestampSeconds = Math.floor(clock.nowMs() / 1000);
  try {
    const headers = {
      ...attemptHeaders(attempt, body, timestampSeconds),
      ...(tracing.isOn ? await tracing.headersOf(deliverStep(attempt).ref) : {}),
    };
    return await http.post({ url, headers, body: Buffer.from(body), timeoutMs, signal });
  } catch (error) {
    return refused(error instanceof Error ? error.message : 'the request could not be sent');
  }
}

function refused(reason: string): OutboundOutcome {
  return { kind: 'refused', reason, durationMs: 0 };
}

/**
 * The headers of CONTRACT 6, except those of tracing. The id of the delivery is the same for every
 * attempt.
 */
function attemptHeaders(
  { deliveryId, secrets, attemptNumber }: ClaimedAttempt,
  body: string,
  timestampSeconds: number,
): Record<string, string> {
  const id = toWireId('dlv', deliveryId);
  return {
    'content-type': 'application/json',
    'user-agent': userAgent,
    'x-svc-delivery': id,
    'x-svc-attempt': String(attemptNumber),
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signWebhook({ secrets, id, timestampSeconds, body }),
  };
}

/** The parts of an outcome that are recorded. `responseText` is not logged. */
function observed(outcome: OutboundOutcome) {
  const { durationMs } = outcome;
  if (outcome.kind !== 'responded') {
    return { statusCode: null, durationMs, error: outcome.reason, responseText: null };
  }
  const kept = outcome.body.subarray(0, webhookResponseKeptBytesMax);
  const responseText = Buffer.from(kept).toString('utf8');
  return { statusCode: outcome.statusCode, durationMs, error: null, responseText };
}

function logAttempt(
  { logger: shared, countAttempt }: AttemptDeps,
  { deliveryId, eventId, type, attemptNumber, requestId }: ClaimedAttempt,
  outcome: OutboundOutcome,
  verdict: AttemptVerdict,
): void {
  countAttempt(verdict.kind);
  const { statusCode, durationMs, error } = observed(outcome);
  const logger = requestId === null ? shared : withRequestId(shared, requestId);
  logger.info(
    {
      deliveryId: toWireId('dlv', deliveryId),
      eventId: toWireId('evt', eventId),
      type,
      attemptNumber,
      statusCode,
      durationMs,
      error,
      verdict,
    },
    'webhook attempted',
  );
}
