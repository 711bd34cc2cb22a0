import { expect, test } from 'vitest';
import * as limits from './limits.ts';
import { tiers } from './rate-card.ts';

test('limits that depend on each other agree', () => {
  expect(limits.secondOfferAfterMs).toBeLessThan(limits.offerTimeoutMs);
  expect(limits.offerTimeoutMs).toBeLessThan(limits.dispatchDeadlineMs);
  // An accept at the very deadline is answered, by assign or revoke, before its node forgets it.
  expect(limits.dispatchDeadlineMs + limits.dispatchGraceMs).toBeLessThan(
    limits.acceptedOfferVoidAfterMs,
  );
  // A link is given up only after more than one heartbeat was missed, long before the lease ends.
  expect(limits.heartbeatSeconds * 2 * 1000).toBeLessThan(limits.linkSilentMs);
  expect(limits.linkSilentMs).toBeLessThan(limits.leaseMs);
  expect(limits.usageIntervalMs * 2).toBeLessThan(limits.leaseMs);
  for (const tier of tiers) {
    expect(limits.runLimitMs[tier]).toBeGreaterThan(limits.startDeadlineMs);
  }
  // What a tenant may send fits into the frame that carries it to the node.
  expect(limits.bodyBytesMax).toBeLessThan(limits.frameToNodeBytesMax);
  expect(limits.resultBytesMax).toBeLessThan(limits.frameFromNodeBytesMax);
});
