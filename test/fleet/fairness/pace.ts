import { setTimeout as delay } from 'node:timers/promises';

/** Waits until `atMs` on the clock of `performance.now()`. */
export async function waitUntilTime(atMs: number): Promise<void> {
  const waitMs = atMs - performance.now();
  if (waitMs > 1) await delay(waitMs);
}
