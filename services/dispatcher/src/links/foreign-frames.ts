import { foreignFramesMax, foreignFramesWindowMs } from '@svc/domain';
import type { Clock } from '@svc/runtime';

/** Counts what a link says of submissions that are not its node's (CONTRACT 7). */
export interface ForeignFrames {
  /** Counts one more; true if the link has said too many of them in the last minute. */
  isTooMany(): boolean;
}

export function createForeignFrames(clock: Clock): ForeignFrames {
  const atMs: number[] = [];
  return {
    isTooMany() {
      const nowMs = clock.monotonicMs();
      atMs.push(nowMs);
      // With one more than is allowed the oldest decides.
      if (atMs.length > foreignFramesMax + 1) atMs.shift();
      const [oldestMs = nowMs] = atMs;
      return atMs.length > foreignFramesMax && nowMs - oldestMs < foreignFramesWindowMs;
    },
  };
}
