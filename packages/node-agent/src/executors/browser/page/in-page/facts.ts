/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { ReadingRules } from '../../adapters/adapter.ts';
import type * as labels from './labels.ts';
import type { FrameFacts } from './reports.ts';
import type * as visibility from './visibility.ts';

declare const allBelow: typeof visibility.allBelow;
declare const isVisible: typeof visibility.isVisible;
declare const textOf: typeof labels.textOf;

/** The badge of an invisible captcha counts as `none`, because it asks the visitor nothing. */
export function challengeIn(frame: HTMLElement): FrameFacts['challenge'] {
  const box = frame.getBoundingClientRect();
  if (!isVisible(frame) || box.width < 60 || box.height < 40) return 'none';
  const source = frame.getAttribute('src') ?? '';
  const title = (frame.getAttribute('title') ?? '').toLowerCase();
  if (
    /\/recaptcha\/(?:api2|enterprise)\/bframe|frame=challenge|captcha-delivery\.|arkoselabs|funcaptcha/u.test(
      source,
    )
  )
    return 'challenge';
  if (/challenge/u.test(title) && /captcha/u.test(title) && !/checkbox/u.test(title))
    return 'challenge';
  if (/\/recaptcha\/(?:api2|enterprise)\/anchor/u.test(source)) {
    return /[?&]size=invisible/u.test(source) ? 'none' : 'checkbox';
  }
  if (/hcaptcha.*frame=checkbox(?!-invisible)/u.test(source)) return 'checkbox';
  return /challenges\.cloudflare\.com|\/cdn-cgi\/challenge-platform\//u.test(source)
    ? 'checkbox'
    : 'none';
}

/**
 * The visible captcha of the document. A checkbox is solved if a field of the document has a
 * captcha token. A solved checkbox counts as `none`.
 */
export function challengeOf(): FrameFacts['challenge'] {
  const all = allBelow(document, 'iframe').map(challengeIn);
  const puzzles =
    'input[name*="captcha" i]:not([type="hidden"]), #challenge-form, #challenge-running, #px-captcha, .geetest_holder';
  const hasPuzzle = allBelow(document, puzzles).some(isVisible);
  if (all.includes('challenge') || hasPuzzle) return 'challenge';
  const tokens =
    '[name="g-recaptcha-response"], [name="h-captcha-response"], [name="cf-turnstile-response"]';
  const isSolved = allBelow(document, tokens).some(
    (field) => 'value' in field && typeof field.value === 'string' && field.value !== '',
  );
  return all.includes('checkbox') && !isSolved ? 'checkbox' : 'none';
}

/**
 * The texts of the visible blocks of the document, without those of controls. `isCut`: the
 * document has more text than `charactersMax`, and the rest is missing.
 */
export function readSentences(charactersMax: number): { sentences: string[]; isCut: boolean } {
  const skipped = 'script, style, noscript, template, svg, select, option, textarea, button, label';
  const seen = new Set<Element>();
  const sentences: string[] = [];
  let left = charactersMax;
  for (const element of allBelow(document, '*')) {
    const hasText = [...element.childNodes].some(
      (node) => node.nodeType === Node.TEXT_NODE && (node.nodeValue ?? '').trim() !== '',
    );
    if (!hasText || element.closest(skipped) !== null) continue;
    let block: HTMLElement = element;
    while (block.parentElement !== null && getComputedStyle(block).display.startsWith('inline')) {
      if (block.parentElement === document.body) break;
      block = block.parentElement;
    }
    if (seen.has(block) || !isVisible(block)) continue;
    seen.add(block);
    const text = textOf(block);
    if (text === '' || text.length > 500) continue;
    left -= text.length;
    if (left < 0) return { sentences, isCut: true };
    sentences.push(text);
  }
  return { sentences, isCut: false };
}

/** True if the document shows an area to draw a signature in. */
export function asksSignature(): boolean {
  const words =
    /\b(?:signature|sign here|draw your|unterschrift|unterschreiben|firma|firmar|assinatura|assinar|handtekening|podpis|underskrift|namnteckning)\b/iu;
  return allBelow(document, 'canvas').some((canvas) => {
    const { width, height } = canvas.getBoundingClientRect();
    if (!isVisible(canvas) || width < 100 || height < 40) return false;
    const name = `${canvas.id} ${canvas.className} ${canvas.getAttribute('aria-label') ?? ''}`;
    if (words.test(name.replace(/[_-]/gu, ' '))) return true;
    let box: HTMLElement | null = canvas.parentElement;
    for (let level = 0; box !== null && level < 3; level += 1) {
      const text = textOf(box);
      if (text !== '') return words.test(text.slice(0, 200));
      box = box.parentElement;
    }
    return false;
  });
}

export function readFacts({
  rules,
  watched,
}: {
  readonly rules: ReadingRules;
  readonly watched: readonly string[];
}): FrameFacts {
  const alerts = allBelow(document, `[role="alert"], .error, .errors, .alert, ${rules.fieldError}`)
    .filter(isVisible)
    .slice(0, 50)
    .map((element) => (element.matches('[role="alert"]') ? element.innerText : textOf(element)))
    .map((text) => text.replace(/\s+/gu, ' ').trim())
    .filter((text) => text !== '' && text.length <= 500);
  return {
    url: document.URL,
    challenge: challengeOf(),
    hasPasswordField: allBelow(document, 'input[type="password"]').some(isVisible),
    asksSignature: asksSignature(),
    shown: watched.filter((selector) => allBelow(document, selector).some(isVisible)),
    ...readSentences(200_000),
    alerts,
  };
}

/**
 * Resolves with true when no node was added or removed for `quietMs` and no visible element is
 * `aria-busy`. Resolves with false after `limitMs`.
 */
export async function waitForQuiet({
  quietMs,
  limitMs,
}: {
  readonly quietMs: number;
  readonly limitMs: number;
}): Promise<boolean> {
  return await new Promise((resolve) => {
    const endIfReady = (): void => {
      const isBusy = allBelow(document, '[aria-busy="true"]').some(isVisible);
      if (isBusy) timer = setTimeout(endIfReady, quietMs);
      else end(true);
    };
    let timer = setTimeout(endIfReady, quietMs);
    const limit = setTimeout(() => end(false), limitMs);
    const observer = new MutationObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(endIfReady, quietMs);
    });
    const end = (isQuiet: boolean): void => {
      clearTimeout(timer);
      clearTimeout(limit);
      observer.disconnect();
      resolve(isQuiet);
    };
    observer.observe(document, { childList: true, subtree: true });
  });
}
