/**
 * Above this rate the tenants of the next jobs share one claim if the deliverer waits for them. Below
 * it a pause would only delay a webhook: at 50 a second by 7 ms of 26
 * (docs/lab/what-holds-the-goals.md).
 */
const tenantsPerSecond = 150;
/** The most tenants that may come at once without a pause. */
const burst = 10;
/** A busy deliverer is quiet again after it has woken fewer tenants for a tenth of a second. */
const levelMax = 2 * burst;
const pauseMs = 20;

/** Decides how long the deliverer waits after a wake-up job before it takes the next one. */
export interface WakeUpPace {
  /** 0 if it takes the next one at once. `tenantCount` is the number of tenants that the job woke. */
  pauseMsAfter(tenantCount: number): number;
}

/** A leaky bucket of the tenants that were woken. */
export function createWakeUpPace(monotonicMs: () => number): WakeUpPace {
  let level = 0;
  let atMs = monotonicMs();
  return {
    pauseMsAfter(tenantCount) {
      const nowMs = monotonicMs();
      const left = Math.max(level - ((nowMs - atMs) * tenantsPerSecond) / 1_000, 0);
      level = Math.min(left + tenantCount, levelMax);
      atMs = nowMs;
      return level > burst ? pauseMs : 0;
    },
  };
}
