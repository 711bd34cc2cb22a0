import { setTimeout as delay } from 'node:timers/promises';
import type { Browser } from 'playwright-core';

/**
 * Settles as `work` does, but rejects if `work` is still pending `graceMs` after the end of the
 * browser.
 */
export async function whileConnected<T>(
  browser: Browser,
  work: Promise<T>,
  graceMs = 0,
): Promise<T> {
  const gone = Promise.withResolvers<void>();
  const onGone = (): void => gone.resolve();
  browser.once('disconnected', onGone);
  if (!browser.isConnected()) onGone();
  const timer = new AbortController();
  const failLate = async (): Promise<never> => {
    await gone.promise;
    await delay(graceMs, undefined, { signal: timer.signal });
    throw new Error('the browser has ended');
  };
  try {
    // Some calls of Playwright, such as `newPage`, never settle if the browser ends meanwhile.
    return await Promise.race([work, failLate()]);
  } finally {
    browser.off('disconnected', onGone);
    timer.abort();
  }
}
