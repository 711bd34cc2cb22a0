import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 20;
/** Without any progress for so long it will not come. */
const standstillMs = 120_000;
/** However slow the machine. */
const boundMs = 600_000;

/**
 * Waits until nothing is left of what `left` counts. Throws, saying what was waited for and how
 * much was left, where that has not become less for two minutes, and after ten.
 */
export async function untilNoneLeft(what: string, left: () => Promise<number>): Promise<void> {
  const startedMs = performance.now();
  let least = Number.POSITIVE_INFINITY;
  let progressAtMs = startedMs;
  for (;;) {
    const count = await left();
    if (count <= 0) return;
    const nowMs = performance.now();
    if (count < least) {
      least = count;
      progressAtMs = nowMs;
    }
    if (nowMs - progressAtMs > standstillMs)
      throw new Error(`waited for ${what}: ${count} left, none fewer for ${standstillMs} ms`);
    if (nowMs - startedMs > boundMs)
      throw new Error(`waited ${boundMs} ms for ${what}: ${count} left`);
    await delay(pollMs);
  }
}
