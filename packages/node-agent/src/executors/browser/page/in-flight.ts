import { setTimeout as sleep } from 'node:timers/promises';
import type { Frame, Page, Request } from 'playwright-core';
import { awaitTimers, watchTimers } from './in-page/timers.ts';
import { isGone } from './read-form.ts';

/** The longest wait for the timers that one change has started. */
const timersMsMax = 3_000;
/**
 * The timers of all changes are waited for at most this long. After that, each change waits only
 * for `hurriedMsMax`: the page probably starts timers that lead to nothing.
 */
const timersTotalMs = 20_000;
const hurriedMsMax = 200;
/** The longest wait for one request, such as a long poll, that does not send a file. */
const requestMsMax = 8_000;
/** As `requestMsMax`, for the requests that the page has sent before its first field is filled. */
const firstMsMax = 3_000;
/** The longest wait for all requests and timers that one change has begun. */
const settleMsMax = 12_000;
/** The longest wait for one request that sends data while a file is uploaded. */
const uploadMsMax = 20_000;
/** After the head of an answer, its body is expected within this time. */
const bodyMsMax = 300;
/** The time for the page to read an answer that has come. */
const readMs = 40;
/** Further requests at the same time are not waited for, and none after so many silent endpoints. */
const flightsMax = 1_000;
/** Requests of other kinds, such as images and beacons, change no form. */
const kinds: readonly string[] = ['fetch', 'xhr', 'script', 'document'];
const safeMethods: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** Knows which requests and timers a change of the page has begun. */
export interface InFlight {
  /**
   * Waits until the requests and timers that the page has begun since the last call have ended.
   * Each wait has a limit. Throws if the signal aborts the wait.
   */
  settle(frame: Frame, signal: AbortSignal): Promise<void>;
  /**
   * Waits until no request that sends data is in flight. Ignores those from before `sinceMs`, a
   * value of `performance.now()`. Throws if the signal aborts the wait.
   */
  waitUntilNone(sinceMs: number, signal: AbortSignal): Promise<void>;
}

interface Flight {
  readonly startedMs: number;
  /** The method and the address without its query. */
  readonly endpoint: string;
  readonly sendsData: boolean;
  answeredMs: number | undefined;
}

// oxlint-disable-next-line eslint/max-lines-per-function -- one closure over the state of one page.
export function trackRequests(page: Page): InFlight {
  const flights = new Map<Request, Flight>();
  /** The endpoints that once did not answer in time. Their later requests are not waited for. */
  const silent = new Set<string>();
  let changed = Promise.withResolvers<void>();
  let sinceMs = Number.NEGATIVE_INFINITY;
  let timersMs = 0;
  // Without this watch, for example because the page is closed, only the requests are waited for.
  const ready = page.addInitScript(watchTimers).catch(() => {});
  const notify = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  page.on('request', (request) => {
    const kind = request.resourceType();
    const endpoint = `${request.method()} ${request.url().replace(/[?#].*$/su, '')}`;
    if (
      !kinds.includes(kind) ||
      silent.has(endpoint) ||
      flights.size >= flightsMax ||
      silent.size >= flightsMax
    )
      return;
    const sendsData = !safeMethods.includes(request.method());
    const startedMs = performance.now();
    flights.set(request, { startedMs, endpoint, sendsData, answeredMs: undefined });
  });
  const end = (request: Request): void => {
    if (flights.delete(request)) notify();
  };
  page.on('response', (response) => {
    const flight = flights.get(response.request());
    if (flight !== undefined) flight.answeredMs = performance.now();
    notify();
  });
  page.on('requestfinished', end);
  page.on('requestfailed', end);

  /** The time when the wait for the request must end. */
  const dueMs = ({ startedMs, answeredMs }: Flight, limitMs: number): number =>
    Math.min(startedMs + limitMs, answeredMs === undefined ? Infinity : answeredMs + bodyMsMax);
  /** Waits for the next event of a request, or until the first of the waits must end. */
  const waitFor = async (some: readonly Flight[], limitMs: number, signal: AbortSignal) => {
    const waitMs = Math.min(...some.map((one) => dueMs(one, limitMs))) - performance.now();
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, Math.max(waitMs, 0));
    const abort = (): void => late.resolve();
    signal.addEventListener('abort', abort, { once: true });
    await Promise.race([changed.promise, late.promise]);
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    signal.throwIfAborted();
  };
  const openOnes = (limitMs: number, counts: (one: Flight) => boolean): Flight[] => {
    const nowMs = performance.now();
    const some = [...flights.values()].filter(counts);
    for (const one of some) {
      if (dueMs(one, limitMs) <= nowMs && one.answeredMs === undefined) silent.add(one.endpoint);
    }
    return some.filter((one) => dueMs(one, limitMs) > nowMs);
  };
  return {
    async settle(frame, signal) {
      await ready;
      const untilMs = performance.now() + settleMsMax;
      const limitMs = Number.isFinite(sinceMs) ? requestMsMax : firstMsMax;
      for (;;) {
        signal.throwIfAborted();
        const startedMs = performance.now();
        await waitForTimers(frame, timersMs < timersTotalMs ? timersMsMax : hurriedMsMax);
        timersMs += performance.now() - startedMs;
        const open = openOnes(limitMs, (one) => one.startedMs >= sinceMs);
        if (open.length === 0) break;
        if (performance.now() > untilMs) {
          // The page sends the same requests again and again.
          for (const { endpoint } of open) silent.add(endpoint);
          break;
        }
        await waitFor(open, limitMs, signal);
        // The page reads the answer a little later than the browser reports its end.
        await sleep(readMs, undefined, { signal });
      }
      sinceMs = performance.now();
    },
    async waitUntilNone(since, signal) {
      const isUpload = (one: Flight): boolean => one.sendsData && one.startedMs >= since;
      for (;;) {
        const open = openOnes(uploadMsMax, isUpload);
        if (open.length === 0) return;
        await waitFor(open, uploadMsMax, signal);
      }
    },
  };
}

async function waitForTimers(frame: Frame, limitMs: number): Promise<void> {
  try {
    if (await frame.evaluate(awaitTimers, limitMs)) return;
    await frame.evaluate(watchTimers);
    await frame.evaluate(awaitTimers, limitMs);
  } catch (error) {
    // The next read sees the document that has replaced this one.
    if (frame.isDetached() || !isGone(error)) throw error;
  }
}
