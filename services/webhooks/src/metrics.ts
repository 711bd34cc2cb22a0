import {
  createCounter,
  createDurations,
  createGauge,
  createMetrics,
  exposeGauge,
  type OutboundOutcome,
} from '@svc/runtime';
import type { ClaimedAttempt } from '@svc/store';
import type { Deliverer } from './deliverer.ts';

export function createWebhooksMetrics() {
  const registry = createMetrics('webhooks');
  const observeDuration = createDurations(registry, 'svc_webhook_attempt_duration_seconds');
  const observeLag = createDurations(registry, 'svc_webhook_first_attempt_lag_seconds');
  return {
    registry,
    countAttempt: createCounter(registry, 'svc_webhook_attempts_total'),
    /**
     * `nowMs` is the Unix time at the end of the attempt. The lag of a delivery is the time from
     * its creation to the start of its first attempt.
     */
    timeAttempt: (
      { deliveryId, round, attemptNumber }: ClaimedAttempt,
      outcome: OutboundOutcome,
      nowMs: number,
    ): void => {
      observeDuration({ result: resultOf(outcome) }, outcome.durationMs / 1000);
      if (round !== 1 || attemptNumber !== 1) return;
      const lagMs = nowMs - createdAtMs(deliveryId) - outcome.durationMs;
      observeLag({}, Math.max(0, lagMs) / 1000);
    },
    setDeadLetters: createGauge(registry, 'svc_dead_letters'),
    exposeDeliverer(deliverer: Deliverer): void {
      exposeGauge(registry, 'svc_webhook_breakers_open', (set) => set({}, deliverer.breakersOpen));
      exposeGauge(registry, 'svc_webhook_requests_in_flight', (set) => set({}, deliverer.inFlight));
      exposeGauge(registry, 'svc_webhook_requests_limit', (set) => set({}, deliverer.requestsMax));
    },
  };
}

function resultOf(outcome: OutboundOutcome): 'responded' | 'timeout' | 'failed' | 'refused' {
  return outcome.kind === 'failed' && outcome.timedOut ? 'timeout' : outcome.kind;
}

/**
 * The time in a UUIDv7, such as the id of a delivery. The store takes the time of new ids from the
 * database's clock.
 */
function createdAtMs(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}
