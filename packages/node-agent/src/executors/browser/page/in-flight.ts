import { setTimeout as sleep } from 'node:timers/promises';
import type { Page, Request } from 'playwright-core';

const pollMs = 30;
/** A request that takes longer, like one that a server keeps open for news, is not waited for. */
const requestMsMax = 20_000;

/** The requests of a page that send something and have no answer yet: uploads and autosaves. */
export interface InFlight {
  /** Waits until there is none, with a bound. Returns true if there was one. */
  waitUntilNone(signal: AbortSignal): Promise<boolean>;
}

const quietMs = 90;

export function trackRequests(page: Page): InFlight {
  const started = new Map<Request, number>();
  let changedAtMs = Number.NEGATIVE_INFINITY;
  page.on('request', (request) => {
    if (['GET', 'HEAD', 'OPTIONS'].includes(request.method())) return;
    changedAtMs = performance.now();
    started.set(request, changedAtMs);
  });
  const end = (request: Request): void => {
    if (started.delete(request)) changedAtMs = performance.now();
  };
  // A page that does not read an answer keeps its request unfinished.
  page.on('response', (response) => end(response.request()));
  page.on('requestfailed', end);
  const isBusy = (nowMs: number): boolean =>
    nowMs - changedAtMs < quietMs ||
    [...started.values()].some((startedAtMs) => nowMs - startedAtMs < requestMsMax);
  return {
    async waitUntilNone(signal) {
      let wasBusy = false;
      while (isBusy(performance.now())) {
        wasBusy = true;
        await sleep(pollMs, undefined, { signal });
      }
      return wasBusy;
    },
  };
}
