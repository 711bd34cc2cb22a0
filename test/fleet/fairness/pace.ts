import { setTimeout as delay } from 'node:timers/promises';

/** Waits until `atMs` on the clock of `performance.now()`. The wait may end about 1 ms early. */
export async function waitUntilTime(atMs: number): Promise<void> {
  const waitMs = atMs - performance.now();
  if (waitMs > 1) await delay(waitMs);
}
