import { systemClock } from '@svc/runtime';
import { systemTimers, type Timers } from './timers.ts';

export type MovableTime = ReturnType<typeof movableTime>;

interface Waiting {
  readonly dueAtMs: number;
  readonly fire: () => void;
}

export function movableTime() {
  let offsetMs = 0;
  /** The time at which the clock stands still. Undefined while it runs. */
  let stoppedAtMs: number | undefined;
  const waiting = new Set<Waiting>();
  const monotonicMs = (): number => stoppedAtMs ?? systemClock.monotonicMs() + offsetMs;
  const fireDue = (): void => {
    for (const { dueAtMs, fire } of waiting) if (dueAtMs <= monotonicMs()) fire();
  };
  const timers: Timers = {
    after(delayMs, callBack) {
      const fire = (): void => {
        clear();
        callBack();
      };
      const entry = { dueAtMs: monotonicMs() + delayMs, fire };
      const timer = systemTimers.after(delayMs, () => {
        // A timer that runs out while the clock stands still fires when the clock has moved on.
        if (stoppedAtMs === undefined) fire();
      });
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
        if (stoppedAtMs !== undefined) stoppedAtMs += ms;
        fireDue();
      },
      /** Stops the clock. Timers then fire only by `advance`. */
      stop(): void {
        stoppedAtMs = monotonicMs();
      },
      /** The clock runs again, from the real time plus what was advanced. */
      start(): void {
        stoppedAtMs = undefined;
        fireDue();
      },
    },
  };
}
