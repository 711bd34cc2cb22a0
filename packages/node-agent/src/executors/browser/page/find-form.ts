import { setTimeout as sleep } from 'node:timers/promises';
import type { Frame, Page } from 'playwright-core';
import { type Adapter, generic, namedAdapters } from '../adapters/index.ts';
import { isBotCheck, isClosed, isSignIn, readPage, saysPostingClosed } from './facts.ts';
import { inDocument } from './in-page.ts';
import { type FormTarget, isGone, waitForQuiet } from './read-form.ts';

const pollMs = 100;
/**
 * The time for a form to appear after the start of `findForm`, or after the search has followed the
 * link or button that leads to the form.
 */
const formMsMax = 15_000;
/** The time for a form to appear on a page with an error status other than 401, 404 and 410. */
const errorPageMsMax = 2_000;
/**
 * The search tries the generic adapter only after the page was quiet for this long, or after
 * `quietMsMax`.
 */
const quietMs = 300;
const quietMsMax = 2_000;
/**
 * If no form has appeared after this time, the search follows the link or button that leads to the
 * form, each of them once. It does not do this on a page with an error status.
 */
const entryAfterMs = 1_000;
/** The most links and buttons that the search follows, one after another. */
const entriesMax = 3;
/** The longest wait for a check against bots to pass by itself (CONTRACT 10). */
const checkMsMax = 20_000;

export interface FindOptions {
  /**
   * The `atsType` of the payload. If it names one of `namedAdapters`, this adapter is tried first
   * in each frame.
   */
  readonly hint: string;
  readonly status: number | undefined;
  readonly signal: AbortSignal;
  readonly onAction: () => void;
}

export type FindFailure =
  | 'captcha'
  | 'login_required'
  | 'posting_closed'
  | 'form_unsupported'
  | 'site_unreachable';

export type FormSearch =
  | { readonly kind: 'form'; readonly target: FormTarget }
  | { readonly kind: 'failed'; readonly code: FindFailure };

const all = [...namedAdapters, generic];
const watched = all.flatMap(({ closed }) => (closed.shown === undefined ? [] : [closed.shown]));
const entries = namedAdapters.flatMap(({ entry }) => (entry === undefined ? [] : [entry]));
const embeds = namedAdapters.flatMap(({ embed }) => (embed === undefined ? [] : [embed]));

/**
 * Waits for the application form, in any frame, and follows a link or button that leads to the
 * form. The generic adapter is tried only if no other adapter fits.
 */
export async function findForm(page: Page, options: FindOptions): Promise<FormSearch> {
  const { signal } = options;
  let { status } = options;
  let startedMs = performance.now();
  const checkedFromMs = startedMs;
  const entered = new Set<string>();
  for (;;) {
    signal.throwIfAborted();
    const named = await namedTarget(page, options.hint);
    if (named !== undefined) return { kind: 'form', target: named };
    await waitForQuiet(page.mainFrame(), quietMs, quietMsMax).catch(passGone);
    const target = (await namedTarget(page, options.hint)) ?? (await genericTarget(page));
    if (target !== undefined) return { kind: 'form', target };
    const waitedMs = performance.now() - startedMs;
    const found = await obstacle(page, status, waitedMs);
    if (found === 'check') {
      // Some checks pass by themselves. The page that follows has another status.
      if (performance.now() - checkedFromMs > checkMsMax)
        return { kind: 'failed', code: 'captcha' };
      startedMs = performance.now();
      status = undefined;
      await sleep(pollMs);
      continue;
    }
    if (found !== undefined) return { kind: 'failed', code: found };
    const isError = status !== undefined && status >= 400;
    if (!isError && waitedMs > entryAfterMs && entered.size < entriesMax) {
      const way = await enter(page, entered, options);
      if (way.kind === 'unreachable') return { kind: 'failed', code: 'site_unreachable' };
      if (way.kind === 'entered') {
        startedMs = performance.now();
        status = way.status;
      } else if (saysPostingClosed(await readPage(page, generic, []))) {
        return { kind: 'failed', code: 'posting_closed' };
      }
    }
    if (waitedMs > (isError ? errorPageMsMax : formMsMax)) {
      return { kind: 'failed', code: isError ? 'site_unreachable' : 'form_unsupported' };
    }
    await sleep(pollMs);
  }
}

function passGone(error: unknown): void {
  if (!isGone(error)) throw error;
}

async function obstacle(
  page: Page,
  status: number | undefined,
  waitedMs: number,
): Promise<FindFailure | 'check' | undefined> {
  const facts = await readPage(page, generic, watched);
  if (facts.challenge === 'challenge') return 'captcha';
  if (facts.challenge !== 'none' || isBotCheck(facts)) return 'check';
  if (status === 404 || status === 410 || isClosed(facts, all)) return 'posting_closed';
  if (status === 401 || isSignIn(facts)) return waitedMs > pollMs ? 'login_required' : undefined;
  return undefined;
}

async function namedTarget(page: Page, hint: string): Promise<FormTarget | undefined> {
  const isHinted = ({ name }: Adapter): boolean => name === hint.trim().toLowerCase();
  const ordered = [
    ...namedAdapters.filter(isHinted),
    ...namedAdapters.filter((adapter) => !isHinted(adapter)),
  ];
  const roots = ordered.map(({ reading }) => reading.root ?? ':not(*)');
  for (const frame of page.frames()) {
    const found = await inFrame(frame, () =>
      inDocument(frame, (loaded) =>
        loaded.evaluate((functions, one) => functions.matchRoots(one), roots),
      ),
    );
    const adapter = ordered[found?.indexOf(true) ?? -1];
    if (adapter !== undefined) return { frame, adapter };
  }
  return undefined;
}

/**
 * The only frame that has a form. Undefined if no frame or several frames have a form, or if the
 * page embeds a known ATS.
 */
async function genericTarget(page: Page): Promise<FormTarget | undefined> {
  const main = page.mainFrame();
  const isEmbedding = await inFrame(main, () =>
    inDocument(main, (loaded) =>
      loaded.evaluate((functions, one) => functions.matchRoots(one), embeds),
    ),
  );
  // The form of the embedded ATS may still appear.
  if (isEmbedding?.includes(true) === true) return undefined;
  const withForm: Frame[] = [];
  for (const frame of page.frames()) {
    const hasForm = await inFrame(frame, () =>
      inDocument(frame, (loaded) =>
        loaded.evaluate((functions, one) => functions.hasRoot(one), generic.reading),
      ),
    );
    if (hasForm === true) withForm.push(frame);
  }
  const [frame, ...others] = withForm;
  return frame === undefined || others.length > 0 ? undefined : { frame, adapter: generic };
}

/**
 * Returns undefined if `read` throws, because the page may have replaced the frame. If the page is
 * closed, throws the error.
 */
async function inFrame<T>(frame: Frame, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (frame.page().isClosed()) throw error;
    return undefined;
  }
}

type Entered =
  | { readonly kind: 'none' }
  | { readonly kind: 'entered'; readonly status: number | undefined }
  | { readonly kind: 'unreachable' };

/** Follows a way to the form that is not in `followed`, and adds it there. */
async function enter(
  page: Page,
  followed: Set<string>,
  { onAction, signal }: FindOptions,
): Promise<Entered> {
  const main = page.mainFrame();
  const handle = await inFrame(main, () =>
    inDocument(main, (loaded) =>
      loaded.evaluateHandle((functions, one) => functions.findEntry(one), {
        selectors: entries,
        followed: [...followed],
      }),
    ),
  );
  if (handle === undefined) return { kind: 'none' };
  const { name, href } = await handle.evaluate(({ report }) => report);
  if (name === undefined) return { kind: 'none' };
  signal.throwIfAborted();
  followed.add(name);
  onAction();
  if (href !== undefined) {
    try {
      const response = await page.goto(href, { waitUntil: 'domcontentloaded' });
      return { kind: 'entered', status: response?.status() };
    } catch (error) {
      signal.throwIfAborted();
      if (page.isClosed()) throw error;
      return { kind: 'unreachable' };
    }
  }
  const element = (await handle.evaluateHandle((found) => found.element)).asElement();
  await element?.click({ timeout: 5_000, noWaitAfter: true }).catch(() => {});
  return { kind: 'entered', status: undefined };
}
