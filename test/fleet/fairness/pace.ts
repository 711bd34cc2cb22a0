import { setTimeout as delay } from 'node:timers/promises';

/** Waits until `atMs` on the clock of `performance.now()`. Real time paces the load of a trial. */
export async function waitUntilTime(atMs: number): Promise<void> {
  const waitMs = atMs - performance.now();
  if (waitMs > 1) await delay(waitMs);
}
