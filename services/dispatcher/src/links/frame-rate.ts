import { takeToken, type RatePolicy, type TokenBucket } from '@svc/domain';
import type { Clock } from '@svc/runtime';

/**
 * How much one node may say (CONTRACT 7). Far beyond what jobs need, which is a few frames
 * each and one of usage every 5 s, and far below what would keep a dispatcher from other nodes.
 */
const perSecondBase = 1_000;
const perSecondPerSlot = 50;
/** What may come at once: a node that connects again repeats all it has in hand. */
const burstSeconds = 2;
const burstPerRunning = 4;
/** A larger frame counts as several. */
const bytesPerToken = 4_096;

export interface FrameRate {
  /** Whether one more frame may be read. */
  take(bytes: number): boolean;
  /** What the `hello` said: more slots and more in hand mean more to say. */
  allowFor(node: { readonly slots: number; readonly running: number }): void;
}

export function createFrameRate(clock: Clock): FrameRate {
  let policy: RatePolicy = { perSecond: perSecondBase, burst: burstSeconds * perSecondBase };
  let bucket: TokenBucket | undefined;
  return {
    take(bytes) {
      const cost = 1 + Math.floor(bytes / bytesPerToken);
      const taking = takeToken(bucket, policy, clock.monotonicMs(), cost);
      bucket = taking.bucket;
      return taking.decision.allowed;
    },
    allowFor({ slots, running }) {
      const perSecond = perSecondBase + perSecondPerSlot * slots;
      policy = { perSecond, burst: burstSeconds * perSecond + burstPerRunning * running };
      bucket = undefined;
    },
  };
}
