/**
 * If more tenants than this are woken per second, the deliverer pauses after a job. More tenants
 * then share a claim (decision 13). At a lower rate, a pause would only delay webhooks.
 */
const tenantsPerSecond = 150;
/**
 * A leaky bucket counts the woken tenants. If it has more than `burst` tenants, the deliverer
 * pauses after a job.
 */
const burst = 10;
/**
 * The highest level of the leaky bucket. If no tenant is woken, the bucket drains from this level
 * to `burst` in about 70 ms, so pauses end soon after a busy time.
 */
const levelMax = 2 * burst;
const busyPauseMs = 20;

export interface WakeUpPace {
  /**
   * Counts `tenantCount` more woken tenants. Returns the pause in milliseconds before the deliverer
   * takes its next job, or 0 for no pause.
   */
  pauseMs(tenantCount: number): number;
}

/** Counts the woken tenants in a leaky bucket that drains at the rate `tenantsPerSecond`. */
export function createWakeUpPace(monotonicMs: () => number): WakeUpPace {
  let level = 0;
  let atMs = monotonicMs();
  return {
    pauseMs(tenantCount) {
      const nowMs = monotonicMs();
      const left = Math.max(level - ((nowMs - atMs) * tenantsPerSecond) / 1_000, 0);
      level = Math.min(left + tenantCount, levelMax);
      atMs = nowMs;
      return level > burst ? busyPauseMs : 0;
    },
  };
}
