import { systemClock } from '@svc/runtime';
import { systemTimers, type Timers } from './timers.ts';

export type MovableTime = ReturnType<typeof movableTime>;

export function movableTime() {
  let offsetMs = 0;
  const waiting = new Set<{ readonly dueAtMs: number; readonly fire: () => void }>();
  const monotonicMs = (): number => systemClock.monotonicMs() + offsetMs;
  const timers: Timers = {
    after(delayMs, callBack) {
      const fire = (): void => {
        clear();
        callBack();
      };
      const entry = { dueAtMs: monotonicMs() + delayMs, fire };
      const timer = systemTimers.after(delayMs, fire);
      const clear = (): void => {
        waiting.delete(entry);
        timer.clear();
      };
      waiting.add(entry);
      return { clear };
    },
  };
  return {
    timers,
    clock: {
      nowMs: () => systemClock.nowMs() + offsetMs,
      monotonicMs,
      advance(ms: number): void {
        offsetMs += ms;
        for (const { dueAtMs, fire } of waiting) if (dueAtMs <= monotonicMs()) fire();
      },
    },
  };
}
