import { foreignFramesMax, foreignFramesWindowMs } from '@svc/domain';
import type { Clock } from '@svc/runtime';

/** Counts frames about submissions that are not assigned to the node of the link (CONTRACT 7). */
export interface ForeignFrames {
  /**
   * Counts one more frame. Returns true if there were more than `foreignFramesMax` in the last
   * minute.
   */
  isTooMany(): boolean;
}

export function createForeignFrames(clock: Clock): ForeignFrames {
  const atMs: number[] = [];
  return {
    isTooMany() {
      const nowMs = clock.monotonicMs();
      atMs.push(nowMs);
      // `atMs` has the times of the last `foreignFramesMax + 1` frames. If it is full and its
      // oldest time is in the window, there were too many frames.
      if (atMs.length > foreignFramesMax + 1) atMs.shift();
      const [oldestMs = nowMs] = atMs;
      return atMs.length > foreignFramesMax && nowMs - oldestMs < foreignFramesWindowMs;
    },
  };
}
