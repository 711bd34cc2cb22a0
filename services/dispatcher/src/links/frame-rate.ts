import { takeToken, type RatePolicy, type TokenBucket } from '@svc/domain';
import type { Clock } from '@svc/runtime';

/**
 * The limit of frames from one node in a second is `perSecondBase`, and `perSecondPerSlot` more for
 * each slot (CONTRACT 7). Jobs need far less.
 */
const perSecondBase = 1_000;
const perSecondPerSlot = 50;
/** The burst is this many times the limit per second. */
const burstSeconds = 2;
/**
 * Added to the burst for each submission that the `hello` names, because a node that connects again
 * repeats the frames of its runs.
 */
const burstPerRunning = 4;
/** A frame costs one token, and one more for each full block of this many bytes. */
const bytesPerToken = 4_096;

export interface FrameRate {
  /**
   * Takes the tokens for a frame of this size. If too few are left, takes none and returns false.
   */
  take(bytes: number): boolean;
  /**
   * Computes the limit and the burst from the node's slots and runs. The full burst is then
   * available again.
   */
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
