import { expect, test } from 'vitest';
import * as limits from './limits.ts';
import { tiers } from './rate-card.ts';

test('limits that depend on each other agree', () => {
  expect(limits.secondOfferAfterMs).toBeLessThan(limits.offerTimeoutMs);
  expect(limits.offerTimeoutMs).toBeLessThan(limits.dispatchDeadlineMs);
  // The dispatch deadline counts from the hold. A node's timer for an accepted offer starts later,
  // and ends more than `dispatchGraceMs` after the deadline.
  expect(limits.dispatchDeadlineMs + limits.dispatchGraceMs).toBeLessThan(
    limits.acceptedOfferVoidAfterMs,
  );
  // A link survives one missed heartbeat. A silent link is closed before the lease ends.
  expect(limits.heartbeatSeconds * 2 * 1000).toBeLessThan(limits.linkSilentMs);
  expect(limits.linkSilentMs).toBeLessThan(limits.leaseMs);
  expect(limits.usageIntervalMs * 2).toBeLessThan(limits.leaseMs);
  for (const tier of tiers) {
    expect(limits.runLimitMs[tier]).toBeGreaterThan(limits.startDeadlineMs);
  }
  // A tenant's largest payload fits into the frame that carries it to the node.
  expect(limits.bodyBytesMax).toBeLessThan(limits.frameToNodeBytesMax);
  expect(limits.resultBytesMax).toBeLessThan(limits.frameFromNodeBytesMax);
});

test('the limits that the contract names have its values', () => {
  expect(limits).toMatchObject({
    replayWindowSeconds: 300,
    signatureValuesMax: 4,
    bodyBytesMax: 262_144,
    headersBytesMax: 16_384,
    pageLimitDefault: 20,
    pageLimitMax: 100,
    dispatchDeadlineMs: 5_000,
    offerTimeoutMs: 2_000,
    secondOfferAfterMs: 300,
    openOffersMax: 2,
    acceptedOfferVoidAfterMs: 10_000,
    startDeadlineMs: 60_000,
    leaseMs: 60_000,
    runLimitMs: { standard: 1_800_000, priority: 600_000, instant: 300_000 },
    usageIntervalMs: 5_000,
    stoppedDeadlineMs: 30_000,
    failureMessageLengthMax: 512,
    resultBytesMax: 16_384,
    heartbeatSeconds: 5,
    linkSilentMs: 15_000,
    frameFromNodeBytesMax: 262_144,
    frameToNodeBytesMax: 1_048_576,
    badFramesMax: 3,
    webhookTimeoutMs: 15_000,
    webhookAttemptsMax: 8,
    webhookAgeMaxMs: 259_200_000,
    webhookTestIntervalMs: 60_000,
    lowBalanceThresholdDefaultMicros: 1_000_000_000n,
    signupGrantDefaultMicros: 10_000_000_000n,
  });
});
