import { foreignFramesMax, foreignFramesWindowMs } from '@svc/domain';
import type { Clock } from '@svc/runtime';

/** Counts a link's frames about submissions that are not its node's (CONTRACT 7). */
export interface ForeignFrames {
  /** Counts one more frame. Returns true if the link exceeded the limit in the last minute. */
  isTooMany(): boolean;
}

export function createForeignFrames(clock: Clock): ForeignFrames {
  const atMs: number[] = [];
  return {
    isTooMany() {
      const nowMs = clock.monotonicMs();
      atMs.push(nowMs);
      // The list holds one more than the limit, so the age of the oldest entry decides.
      if (atMs.length > foreignFramesMax + 1) atMs.shift();
      const [oldestMs = nowMs] = atMs;
      return atMs.length > foreignFramesMax && nowMs - oldestMs < foreignFramesWindowMs;
    },
  };
}
