import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 20;
const standstillMs = 120_000;
const boundMs = 600_000;

/**
 * Waits until `left` returns 0. Throws after two minutes without progress, and after ten minutes in
 * all. The error names what was awaited and how much was left.
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
      throw new Error(`waited for ${what}: ${count} left, no progress for ${standstillMs} ms`);
    if (nowMs - startedMs > boundMs)
      throw new Error(`waited ${boundMs} ms for ${what}: ${count} left`);
    await delay(pollMs);
  }
}
