import type { Frame, Page } from 'playwright-core';
import type { Adapter } from '../adapters/index.ts';
import { saysBotCheck, saysClosed, saysSignIn } from '../lexicon/sentences.ts';
import { normaliseLabel } from '../planner/index.ts';
import { inDocument } from './in-page.ts';
import type { FrameFacts } from './in-page/reports.ts';

export interface PageFacts {
  readonly urls: readonly string[];
  readonly challenge: FrameFacts['challenge'];
  readonly hasPasswordField: boolean;
  readonly asksSignature: boolean;
  readonly shown: ReadonlySet<string>;
  readonly sentences: readonly string[];
  /** True if a frame has more text than `sentences` holds. */
  readonly isCut: boolean;
  readonly alerts: readonly string[];
}

export const emptyPage: PageFacts = {
  urls: [],
  challenge: 'none',
  hasPasswordField: false,
  asksSignature: false,
  shown: new Set(),
  sentences: [],
  isCut: false,
  alerts: [],
};

/**
 * Reads the facts of all frames of a page. Leaves out a frame that cannot be read, for example
 * because it is being replaced. Throws if the page is closed.
 */
export async function readPage(
  page: Page,
  adapter: Adapter,
  watched: readonly string[],
): Promise<PageFacts> {
  const read = async (frame: Frame): Promise<FrameFacts | undefined> => {
    try {
      return await inDocument(frame, (loaded) =>
        loaded.evaluate((functions, one) => functions.readFacts(one), {
          rules: adapter.reading,
          watched,
        }),
      );
    } catch {
      if (page.isClosed()) throw new Error('The page is closed.');
      return undefined;
    }
  };
  const all = await Promise.all(page.frames().map(read));
  return all.filter((facts) => facts !== undefined).reduce(join, emptyPage);
}

/** Returns `none` if the frame cannot be read, for example because it is being replaced. */
async function challengeIn(frame: Frame): Promise<FrameFacts['challenge']> {
  return await inDocument(frame, (loaded) =>
    loaded.evaluate((functions) => functions.challengeOf()),
  ).catch(() => 'none');
}

export async function readChallenge(page: Page): Promise<FrameFacts['challenge']> {
  const all = await Promise.all(page.frames().map(challengeIn));
  return strictness.findLast((level) => all.includes(level)) ?? 'none';
}

const strictness = ['none', 'checkbox', 'challenge'] as const;

function join(page: PageFacts, frame: FrameFacts): PageFacts {
  const level = Math.max(strictness.indexOf(page.challenge), strictness.indexOf(frame.challenge));
  return {
    urls: [...page.urls, frame.url],
    challenge: strictness[level] ?? 'none',
    hasPasswordField: page.hasPasswordField || frame.hasPasswordField,
    asksSignature: page.asksSignature || frame.asksSignature,
    shown: new Set([...page.shown, ...frame.shown]),
    sentences: [...page.sentences, ...frame.sentences],
    isCut: page.isCut || frame.isCut,
    alerts: [...page.alerts, ...frame.alerts],
  };
}

export function says(texts: readonly string[], sentences: readonly string[]): boolean {
  const wanted = new Set(sentences.map(plain));
  return texts.some((text) => wanted.has(plain(text)));
}

function plain(text: string): string {
  return normaliseLabel(text.replaceAll(/['’]/gu, ''));
}

export function isClosed(facts: PageFacts, adapters: readonly Adapter[]): boolean {
  return adapters.some(({ closed }) => {
    const isAddress = facts.urls.some((url) => {
      if (!URL.canParse(url)) return false;
      const { pathname, search } = new URL(url);
      return closed.address?.test(pathname + search) === true;
    });
    const isShown = closed.shown !== undefined && facts.shown.has(closed.shown);
    return isAddress || isShown || says(facts.sentences, closed.sentences);
  });
}

/**
 * True if a short sentence of the page says that the posting is closed. Call it only for a page
 * without a form and without a way to one.
 */
export function saysPostingClosed({ sentences }: PageFacts): boolean {
  return sentences.some((text) => text.length <= closedLengthMax && saysClosed(text));
}

const closedLengthMax = 240;

/** A page with more texts than this is no check against bots. */
const botCheckTextsMax = 40;

/** True if the page is a check against bots in place of its content. */
export function isBotCheck({ sentences }: PageFacts): boolean {
  return sentences.length <= botCheckTextsMax && sentences.some(saysBotCheck);
}

const signInPath =
  /\/(?:log-?in|sign-?in|sign_in|sso|auth|account\/login|users\/sign_in)(?:\/|$)/iu;

/**
 * Call this function only for a page without an application form, because an application form may
 * have a password field, too.
 */
export function isSignIn(facts: PageFacts): boolean {
  const [main = ''] = facts.urls;
  const isPath = URL.canParse(main) && signInPath.test(new URL(main).pathname);
  return facts.hasPasswordField || isPath || facts.sentences.some(saysSignIn);
}
