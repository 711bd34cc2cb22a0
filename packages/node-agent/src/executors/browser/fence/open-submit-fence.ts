import type { Browser, Page } from 'playwright-core';
import type { EgressProxy } from '../egress/proxy.ts';
import type { CdpSession } from './cdp-session.ts';
import { answerKind, type FencePhase, isSafe, verdictOn } from './gate.ts';
import { InFlight } from './in-flight.ts';
import {
  fieldsOf,
  type PausedAnswer,
  type PausedRequest,
  readPausedRequest,
  textOf,
} from './paused-request.ts';
import type {
  PageRequest,
  SubmissionMatcher,
  SubmissionSent,
  SubmitFence,
} from './submit-fence.ts';
import { watchTargets } from './watch-targets.ts';

export interface SubmitFenceOptions {
  readonly browser: Browser;
  /** A page that has not navigated yet. */
  readonly page: Page;
  readonly proxy: EgressProxy;
  /**
   * Marks the submission as `submitting` in the journal. Resolves when the mark is on disk. Rejects
   * if the mark cannot be written, or if the run must stop.
   */
  readonly submitting: () => Promise<void>;
  /** The fence closes when this signal is aborted. */
  readonly signal: AbortSignal;
}

type Answered = SubmissionSent & { readonly kind: 'answered' };

/**
 * In the phase `activated`, the fence waits at most this long for the submission request. After
 * that, the fence closes.
 */
const requestWaitMs = 60_000;
/**
 * In the phase `activated`, the fence closes if the page has no request in flight for this long.
 * The time starts when `activate` resolves, or when the last request in flight ends.
 */
const quietMs = 5_000;
/** The longest wait for the answer, its body included (CONTRACT 10). */
const answerWaitMs = 60_000;
/** The longest wait for the end of the requests that `proxy.shut` has cut. */
const cutWaitMs = 500;
/**
 * The longest wait for the page to report the end of the answer. The wait needs a limit, because a
 * frame or worker may disappear before it reports the end.
 */
const endWaitMs = 2_000;
/** The most requests that wait for the answer to the submission. Further requests are aborted. */
const heldMax = 1_000;
const answerTextLengthMax = 1024 * 1024;
const emptyStatuses: readonly number[] = [204, 205, 304];

class Fence implements SubmitFence {
  readonly #options: SubmitFenceOptions;
  readonly #inFlight = new InFlight(() => this.#onActivity());
  readonly #sent = Promise.withResolvers<SubmissionSent>();
  #phase: FencePhase = 'open';
  #matcher: SubmissionMatcher = () => false;
  #submission: PausedRequest | undefined;
  #firstAnswer: Answered | undefined;
  #held: (() => void)[] = [];
  #isUsed = false;
  #isSettled = false;
  #deadline: NodeJS.Timeout | undefined;
  #quiet: NodeJS.Timeout | undefined;

  constructor(options: SubmitFenceOptions) {
    this.#options = options;
  }

  arm(matcher: SubmissionMatcher): void {
    if (this.#phase !== 'open' && this.#phase !== 'armed')
      throw new Error('the fence is already activated or closed');
    this.#matcher = matcher;
    this.#phase = 'armed';
  }

  async submit(activate: () => Promise<void>): Promise<SubmissionSent> {
    if (this.#phase !== 'armed' || this.#isUsed)
      throw new Error('submit needs an armed fence, and may be called only once');
    this.#isUsed = true;
    try {
      await this.#options.submitting();
    } catch (error) {
      this.stop();
      throw error;
    }
    // The fence may have closed while the journal was written.
    if (this.#isSettled) return this.#sent.promise;
    this.#phase = 'activated';
    this.#deadline = setTimeout(() => this.stop(), requestWaitMs);
    activate().then(
      () => this.#onActivity(),
      // After a failed activation, the page may still start a submission request. The fence closes,
      // so that it aborts this request.
      () => this.#phase === 'activated' && this.stop(),
    );
    return this.#sent.promise;
  }

  /**
   * Closes the fence, so no submission request leaves after this. Resolves `#sent` with the result
   * so far.
   */
  stop(): void {
    const unanswered = this.#submission === undefined ? 'nothing_sent' : 'unanswered';
    const outcome = this.#firstAnswer ?? { kind: unanswered };
    if (this.#isSettled) return;
    if (outcome.kind === 'unanswered') this.#options.proxy.shut();
    this.#settle(outcome);
  }

  onEvent(session: CdpSession, method: string, params: unknown): void {
    if (method !== 'Fetch.requestPaused') return this.#inFlight.note(method, params);
    const paused = readPausedRequest(params);
    if (paused === undefined) return;
    if (paused.answer !== undefined) void this.#onAnswer(session, paused, paused.answer);
    else this.#onRequest(session, paused);
  }

  #onRequest(session: CdpSession, paused: PausedRequest): void {
    const isSubmission = this.#isSubmission(paused);
    // Two CDP sessions may pause the submission request. `#send` decides on it in the first
    // session, so the fence lets it through in the second session.
    if (isSubmission && !paused.isRedirect) return this.#resume(session, paused);
    const { method } = paused.request;
    // The GET after the redirect of a POST does not send the application again, even if its address
    // has a filled value.
    const isFollowed = isSubmission && !isSafe(this.#submission?.request.method ?? 'GET');
    const isMatch = !isFollowed && this.#isMatch(paused.request);
    const verdict = verdictOn(this.#phase, { method, isMatch });
    switch (verdict) {
      case 'continue':
        return this.#resume(session, paused, isSubmission);
      case 'abort':
        fail(session, paused);
        if (isSubmission) this.stop();
        return;
      case 'hold':
        if (this.#held.length >= heldMax) return fail(session, paused);
        this.#inFlight.pause(paused.networkId);
        this.#held.push(() => this.#onRequest(session, paused));
        return;
      case 'submit':
        return void this.#send(session, paused);
    }
  }

  #isSubmission({ networkId }: PausedRequest): boolean {
    return networkId !== undefined && networkId === this.#submission?.networkId;
  }

  /** If the matcher throws, the request counts as one that carries the application. */
  #isMatch(request: PageRequest): boolean {
    try {
      return this.#matcher(request);
    } catch {
      return true;
    }
  }

  #resume(
    session: CdpSession,
    { requestId, networkId }: PausedRequest,
    interceptResponse = false,
  ): void {
    this.#inFlight.resume(networkId);
    session.send('Fetch.continueRequest', { requestId, interceptResponse }).catch(() => {});
  }

  /**
   * Lets the submission request out, alone and on a fresh connection. Aborts the request if the
   * fence has closed meanwhile.
   */
  async #send(session: CdpSession, paused: PausedRequest): Promise<void> {
    const { proxy } = this.#options;
    const { requestId, networkId, request } = paused;
    this.#phase = 'sending';
    this.#submission = paused;
    this.#inFlight.pause(networkId);
    this.#restartTimers(answerWaitMs);
    // Another request could take the one connection that `seal` allows. So `shut` first cuts all
    // requests that are in flight (decision 28).
    proxy.shut();
    await this.#requestsCut();
    if (this.#isSettled) return fail(session, paused);
    proxy.seal(request);
    try {
      await session.send('Fetch.continueRequest', { requestId, interceptResponse: true });
    } catch {
      this.stop();
    }
  }

  async #requestsCut(): Promise<void> {
    const untilMs = performance.now() + cutWaitMs;
    while (!this.#inFlight.isEmpty() && performance.now() < untilMs && !this.#isSettled) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async #onAnswer(session: CdpSession, paused: PausedRequest, answer: PausedAnswer): Promise<void> {
    const { url, method } = paused.request;
    const { status, location } = answer;
    const kind = answerKind(status ?? 0, method, location !== undefined);
    if (this.#isSettled || status === undefined || kind === 'repeat') {
      fail(session, paused);
      // A `repeat` answer does not prove that the site took the application (decision 28).
      return this.stop();
    }
    if (kind === 'follow') {
      const next = URL.parse(location ?? '', url)?.href ?? url;
      this.#firstAnswer ??= { kind: 'answered', status, url: next, bodyText: undefined };
      this.#close();
      return this.#resume(session, paused);
    }
    const bodyText = emptyStatuses.includes(status) ? '' : await bodyOf(session, paused.requestId);
    if (bodyText === undefined) {
      fail(session, paused);
      return this.stop();
    }
    const isWhole = this.#isWhole(paused.networkId);
    this.#resume(session, paused);
    // After a redirect, the error of the next page is not the answer to the application.
    if (status >= 400 && this.#firstAnswer !== undefined) return this.stop();
    if (await isWhole) this.#settle({ kind: 'answered', status, url, bodyText });
    else this.stop();
  }

  /**
   * False if the page reports within `endWaitMs` that the body of the answer was cut (decision 28).
   * Otherwise true.
   */
  async #isWhole(networkId: string | undefined): Promise<boolean> {
    const noEnd = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => noEnd.resolve(true), endWaitMs);
    const end = networkId === undefined ? true : this.#inFlight.isWhole(networkId);
    const isWhole = await Promise.race([end, noEnd.promise]);
    clearTimeout(timer);
    return isWhole;
  }

  #close(): void {
    this.#phase = 'closed';
    this.#options.proxy.release();
    for (const decide of this.#held.splice(0)) decide();
  }

  #settle(outcome: SubmissionSent): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#quiet);
    this.#close();
    this.#sent.resolve(outcome);
  }

  #restartTimers(waitMs: number): void {
    clearTimeout(this.#quiet);
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.stop(), waitMs);
  }

  #onActivity(): void {
    clearTimeout(this.#quiet);
    if (this.#phase !== 'activated' || !this.#inFlight.isEmpty()) return;
    this.#quiet = setTimeout(() => this.#phase === 'activated' && this.stop(), quietMs);
  }
}

function fail(session: CdpSession, { requestId }: PausedRequest): void {
  // If the request was a navigation, this reason keeps the browser on the present page.
  const errorReason = 'Aborted';
  session.send('Fetch.failRequest', { requestId, errorReason }).catch(() => {});
}

async function bodyOf(session: CdpSession, requestId: string): Promise<string | undefined> {
  try {
    const { body, base64Encoded } = fieldsOf(
      await session.send('Fetch.getResponseBody', { requestId }),
    );
    const bytes = Buffer.from(textOf(body) ?? '', base64Encoded === true ? 'base64' : 'utf8');
    return bytes.toString('utf8').slice(0, answerTextLengthMax);
  } catch {
    return undefined;
  }
}

/**
 * After the promise resolves, the fence decides on each request of the page, its frames and its
 * workers. Other pages of the browser are closed.
 */
export async function openSubmitFence(options: SubmitFenceOptions): Promise<SubmitFence> {
  const { browser, page, signal } = options;
  signal.throwIfAborted();
  const fence = new Fence(options);
  await watchTargets(browser, page, (session, method, params) => {
    fence.onEvent(session, method, params);
  });
  const stop = (): void => fence.stop();
  page.once('crash', stop);
  page.once('close', stop);
  browser.once('disconnected', stop);
  signal.addEventListener('abort', stop, { once: true });
  signal.throwIfAborted();
  return fence;
}
