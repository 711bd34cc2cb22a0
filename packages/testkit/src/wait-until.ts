import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  /** What is waited for, as the error says it. */
  readonly what?: string;
  readonly timeoutMs?: number;
}

const pollMs = 10;
const timeoutMsByDefault = 10_000;

/**
 * Resolves with the first value of `check` that is neither false, null nor undefined, as soon as
 * there is one; for what a test cannot be told of. Throws at the bound, with the last error of
 * `check` where it threw.
 */
export async function waitUntil<T>(
  check: () => T | Promise<T>,
  { what = 'the condition', timeoutMs = timeoutMsByDefault }: WaitOptions = {},
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
