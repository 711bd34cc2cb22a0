import { setTimeout as sleep } from 'node:timers/promises';
import type { Page, Request } from 'playwright-core';

const pollMs = 30;
/** `waitUntilNone` ignores a request that takes longer, such as a long poll. */
const requestMsMax = 20_000;

export interface InFlight {
  /**
   * Waits until no request that sends data, such as an upload, is in flight. Returns true if a wait
   * was necessary. Throws if the signal aborts the wait.
   */
  waitUntilNone(signal: AbortSignal): Promise<boolean>;
  /**
   * True while a `fetch` or `XMLHttpRequest` that the page has sent since `sinceMs` has no answer.
   * `sinceMs` is a value of `performance.now()`.
   */
  isAsking(sinceMs: number): boolean;
}

const quietMs = 90;

/** The most requests that are known of a page. After that, the oldest are forgotten. */
const requestsMax = 1_000;

function keep(known: Map<Request, number>, request: Request, nowMs: number): void {
  known.set(request, nowMs);
  if (known.size <= requestsMax) return;
  for (const oldest of known.keys()) {
    known.delete(oldest);
    return;
  }
}

export function trackRequests(page: Page): InFlight {
  const started = new Map<Request, number>();
  const asked = new Map<Request, number>();
  let changedAtMs = Number.NEGATIVE_INFINITY;
  page.on('request', (request) => {
    const nowMs = performance.now();
    if (['fetch', 'xhr'].includes(request.resourceType())) keep(asked, request, nowMs);
    if (['GET', 'HEAD', 'OPTIONS'].includes(request.method())) return;
    changedAtMs = nowMs;
    keep(started, request, nowMs);
  });
  const end = (request: Request): void => {
    asked.delete(request);
    if (started.delete(request)) changedAtMs = performance.now();
  };
  // Listens to `response`, because `requestfinished` never comes if the page does not read the
  // answer.
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
    isAsking: (sinceMs) => [...asked.values()].some((askedAtMs) => askedAtMs >= sinceMs),
  };
}
