import { attemptsMax, toWireId, webhookResponseKeptBytesMax, webhookTimeoutMs } from '@svc/domain';
import { enqueueDeliveries, type Producer } from '@svc/queue';
import {
  failpoint,
  withRequestId,
  type Clock,
  type Logger,
  type OutboundHttp,
  type OutboundOutcome,
} from '@svc/runtime';
import { signWebhook } from '@svc/signing';
import {
  claimAttempts,
  recordAttempt,
  type AttemptVerdict,
  type ClaimedAttempt,
  type Store,
} from '@svc/store';
import type { Slots } from './slots.ts';
import { decideVerdict } from './verdict.ts';

export interface DeliverDeps {
  readonly store: Store;
  readonly producer: Producer;
  readonly http: OutboundHttp;
  readonly slots: Slots;
  readonly backoffSeconds: readonly number[];
  readonly clock: Clock;
  /** A random number from 0 to 1. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly countAttempt: (verdict: AttemptVerdict['kind']) => void;
}

/** Requests in flight in one process; connections and memory follow this and no backlog. */
export const requestsMax = 256;

/**
 * A retry that is further away is not put on the queue: the reconciler finds it when it is due, and
 * Redis does not fill up with the retries of endpoints that are down.
 */
const enqueuedDelayMsMax = 60_000;

/** An alarm a moment late finds the delivery due; a moment early would leave it to the reconciler. */
const alarmMarginMs = 25;

const userAgent = 'svc-webhooks/1';

/**
 * Makes one attempt of each of these deliveries that is due (SPEC section 6, CONTRACT section 6);
 * the others are left alone, so that a job may come twice. Every attempt is claimed and numbered
 * in Postgres before it is sent, and only once it may be sent at once, so that no claim runs out in
 * a queue. Throws where any could not be claimed or recorded.
 */
export async function deliver(
  deps: DeliverDeps,
  deliveryIds: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const results = await Promise.allSettled(
    deliveryIds.map((deliveryId) =>
      deps.slots.run(async () => {
        if (signal.aborted) return;
        const claimed = await claimAttempts(
          deps.store,
          [deliveryId],
          attemptsMax(deps.backoffSeconds),
        );
        for (const attempt of claimed) await makeAttempt(deps, attempt, signal);
      }),
    ),
  );
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (errors.length > 0) {
    throw new AggregateError(errors, `${errors.length} attempts could not be made or recorded`);
  }
}

async function makeAttempt(
  deps: DeliverDeps,
  attempt: ClaimedAttempt,
  signal: AbortSignal,
): Promise<void> {
  const outcome = await send(deps, attempt, signal);
  await failpoint('webhook.sent');
  const verdict = decideVerdict({
    outcome,
    attemptNumber: attempt.attemptNumber,
    backoffSeconds: deps.backoffSeconds,
    jitter: deps.random(),
    nowMs: deps.clock.nowMs(),
  });
  await recordAttempt(deps.store, {
    deliveryId: attempt.deliveryId,
    tenantId: attempt.tenantId,
    round: attempt.round,
    attemptNumber: attempt.attemptNumber,
    url: attempt.url,
    ...observed(outcome),
    verdict,
  });
  tell(deps, attempt, outcome, verdict);
  if (verdict.kind === 'retry') await enqueueRetry(deps, attempt.deliveryId, verdict.delayMs);
}

async function send(
  { http, clock }: DeliverDeps,
  attempt: ClaimedAttempt,
  signal: AbortSignal,
): Promise<OutboundOutcome> {
  if (attempt.secrets.length === 0) {
    return { kind: 'refused', reason: 'the tenant has no webhook secret', durationMs: 0 };
  }
  const { url, body } = attempt;
  return await http.post({
    url,
    headers: attemptHeaders(attempt, Math.floor(clock.nowMs() / 1000)),
    body: Buffer.from(body),
    timeoutMs: webhookTimeoutMs,
    signal,
  });
}

/** The headers of CONTRACT section 6; the delivery's id is the same for every attempt. */
function attemptHeaders(attempt: ClaimedAttempt, timestampSeconds: number): Record<string, string> {
  const id = toWireId('dlv', attempt.deliveryId);
  const { secrets, body, attemptNumber } = attempt;
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

/** What the attempt's log keeps. */
function observed(outcome: OutboundOutcome) {
  const { durationMs } = outcome;
  if (outcome.kind !== 'responded') {
    return { statusCode: null, durationMs, error: outcome.reason, responseText: null };
  }
  const kept = outcome.body.subarray(0, webhookResponseKeptBytesMax);
  const responseText = Buffer.from(kept).toString('utf8');
  return { statusCode: outcome.statusCode, durationMs, error: null, responseText };
}

function tell(
  { logger, countAttempt }: DeliverDeps,
  { deliveryId, eventId, type, attemptNumber, requestId }: ClaimedAttempt,
  outcome: OutboundOutcome,
  verdict: AttemptVerdict,
): void {
  countAttempt(verdict.kind);
  const { statusCode, durationMs, error } = observed(outcome);
  const own = requestId === null ? logger : withRequestId(logger, requestId);
  own.info(
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

/** A retry that cannot be enqueued is found by the reconciler when it is due. */
async function enqueueRetry(
  { producer, logger }: DeliverDeps,
  deliveryId: string,
  delayMs: number,
): Promise<void> {
  if (delayMs > enqueuedDelayMsMax) return;
  try {
    await enqueueDeliveries(producer, [deliveryId], { delayMs: delayMs + alarmMarginMs });
  } catch (error) {
    const id = toWireId('dlv', deliveryId);
    logger.warn({ err: error, deliveryId: id }, 'could not enqueue a retry');
  }
}
