import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  /** A name for the condition, for the error message. */
  readonly what?: string;
  readonly timeoutMs?: number;
}

const pollMs = 10;
const timeoutMsDefault = 10_000;

/**
 * Polls `check`, and returns its first value that is not false, null or undefined. For conditions
 * without an event. Throws after `timeoutMs`, with the last error of `check` as the cause.
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
    if (performance.now() - startedMs >= timeoutMs) {
      throw new Error(`waited ${timeoutMs} ms for ${what}`, { cause: lastError });
    }
    await delay(pollMs);
  }
}

function isThere<T>(value: T): value is Exclude<T, false | null | undefined> {
  return value !== false && value !== null && value !== undefined;
}
