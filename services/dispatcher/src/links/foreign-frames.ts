import { foreignFramesMax, foreignFramesWindowMs } from '@svc/domain';
import type { Clock } from '@svc/runtime';

/** Counts the frames of a link about submissions that its node does not have (CONTRACT 7). */
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
      // The list has up to `foreignFramesMax + 1` frames. If its oldest frame is recent, there are
      // too many.
      if (atMs.length > foreignFramesMax + 1) atMs.shift();
      const [oldestMs = nowMs] = atMs;
      return atMs.length > foreignFramesMax && nowMs - oldestMs < foreignFramesWindowMs;
    },
  };
}
