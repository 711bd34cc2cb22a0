import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  readonly what?: string;
  readonly timeoutMs?: number;
}

const pollMinMs = 10;
const pollMaxMs = 50;
/**
 * A pause is this share of the time waited so far, within `pollMinMs` and `pollMaxMs`. Pauses grow,
 * because polls take CPU from the processes under test.
 */
const pollShare = 0.1;
const timeoutMsDefault = 10_000;

/**
 * Repeats `check`, even after it throws, until it returns a value other than false, null or
 * undefined. Returns this value, or throws after `timeoutMs` (default 10 s).
 */
export async function waitUntil<T>(
  check: () => T | Promise<T>,
  { what = 'the condition', timeoutMs = timeoutMsDefault }: WaitOptions = {},
): Promise<Exclude<T, false | null | undefined>> {
  const startedMs = performance.now();
  let lastError: unknown;
  for (;;) {
    try {
      const value = await check();
      if (isThere(value)) return value;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    const waitedMs = performance.now() - startedMs;
    if (waitedMs >= timeoutMs) {
      throw new Error(`gave up after ${timeoutMs} ms of waiting for ${what}`, { cause: lastError });
    }
    await delay(Math.min(pollMaxMs, Math.max(pollMinMs, waitedMs * pollShare)));
  }
}

function isThere<T>(value: T): value is Exclude<T, false | null | undefined> {
  return value !== false && value !== null && value !== undefined;
}
