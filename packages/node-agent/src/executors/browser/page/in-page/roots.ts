/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { ReadingRules } from '../../adapters/adapter.ts';
import type * as lexicon from '../../lexicon/captions.ts';
import type { FormAddress } from './reports.ts';
import type * as visibility from './visibility.ts';

declare const allBelow: typeof visibility.allBelow;
declare const closestAcross: typeof visibility.closestAcross;
declare const isVisible: typeof visibility.isVisible;
declare const parentAcross: typeof visibility.parentAcross;
declare const captions: typeof lexicon.captions;

/**
 * Finds the root of the form by the rule of the adapter. Without a rule, takes the only application
 * form with an upload, or else the only application form.
 */
export function findRoot(rules: ReadingRules): HTMLElement | undefined {
  if (rules.root !== undefined) return allBelow(document, rules.root).find(isVisible);
  const forms = allBelow(document, 'form').filter(looksLikeApplication);
  const withUpload = forms.filter((form) => allBelow(form, 'input[type="file"]').length > 0);
  if (withUpload.length === 1) return withUpload[0];
  return forms.length === 0 ? findBox() : forms.length === 1 ? forms[0] : undefined;
}

/**
 * The smallest box that holds all fields of an application and its only submitting button, where
 * the page has no `<form>`. Undefined if several buttons have such a box.
 */
export function findBox(): HTMLElement | undefined {
  const boxes = allBelow(document, 'button, input[type="button"], [role="button"]')
    .filter((button) => isVisible(button) && closestAcross(button, 'form') === null)
    .filter((button) => isSubmitCaption(captionOf(button)) || isNextCaption(captionOf(button)))
    .map(boxAround)
    .filter((box) => box !== undefined);
  const [box, ...others] = new Set(boxes);
  return others.length === 0 ? box : undefined;
}

export function boxAround(button: HTMLElement): HTMLElement | undefined {
  let best: HTMLElement | undefined;
  let count = 0;
  for (let at = parentAcross(button); at !== null && at !== document.documentElement;) {
    // Another form, or a button with another purpose, begins another part of the page.
    const isOther = allBelow(at, 'form').length > 0 || allBelow(at, '[type="password"]').length > 0;
    if (isOther || !(at instanceof HTMLElement) || hasOtherButton(at, button)) break;
    const questions = questionsIn(at);
    const hasUpload = questions.some((one) => one.matches('[type="file"]'));
    const isApplication = hasUpload || (questions.length >= 3 && questions.some(takesEmail));
    if (isApplication && questions.length > count) {
      best = at;
      count = questions.length;
    }
    at = parentAcross(at);
  }
  return best;
}

export function takesEmail(control: HTMLElement): boolean {
  return control.matches(
    '[type="email"], [autocomplete*="email" i], [name*="email" i], [id*="email" i]',
  );
}

export function hasOtherButton(box: HTMLElement, button: HTMLElement): boolean {
  return allBelow(box, 'button, [role="button"], input[type="button"], input[type="submit"]')
    .filter((other) => other !== button && isVisible(other))
    .map(captionOf)
    .some((caption) => isSubmitCaption(caption) || leadsElsewhere(caption));
}

export function questionsIn(box: HTMLElement): HTMLElement[] {
  return allBelow(
    box,
    'input:not([type="hidden"], [type="submit"], [type="button"], [type="search"], [type="image"], [type="reset"]), select, textarea, [role="combobox"], [contenteditable="true"]',
  ).filter((control) => isVisible(control) || control.matches('[type="file"]'));
}

export function hasRoot(rules: ReadingRules): boolean {
  return findRoot(rules) !== undefined;
}

export function matchRoots(selectors: readonly string[]): boolean[] {
  return selectors.map((selector) => allBelow(document, selector).some(isVisible));
}

export function looksLikeApplication(form: HTMLElement): boolean {
  if (!isVisible(form) || form.matches('[role="search"]')) return false;
  if (allBelow(form, 'input[type="password"]').some(isVisible)) return false;
  const questions = questionsIn(form);
  const hasUpload = questions.some((control) => control.matches('[type="file"]'));
  if (hasUpload) return questions.length >= 1;
  return questions.length >= 3 && !hasOtherPurpose(form);
}

/**
 * True if a button of the form subscribes, signs in or searches, and no button submits an
 * application or leads to a next step.
 */
export function hasOtherPurpose(form: HTMLElement): boolean {
  const shown = allBelow(form, 'button, input[type="submit"], input[type="button"]')
    .filter(isVisible)
    .map(captionOf);
  if (shown.some((caption) => isSubmitCaption(caption) || isNextCaption(caption))) return false;
  const sending = allBelow(form, 'button, input[type="submit"]')
    .filter((button) => isVisible(button) && isSubmitType(button))
    .map(captionOf);
  return sending.some(leadsElsewhere);
}

/** True if a button with this caption sends a form that is no application. */
export function leadsElsewhere(caption: string): boolean {
  return new RegExp(captions.elsewhere, 'u').test(caption);
}

/** The text of a button, or else its `aria-label`, in lower case without punctuation. */
export function captionOf(control: HTMLElement): string {
  const shown = control instanceof HTMLInputElement ? control.value : (control.textContent ?? '');
  const text = shown.trim() || (control.getAttribute('aria-label') ?? '');
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/['’]/gu, '')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();
}

export function isNextCaption(caption: string): boolean {
  return !isOtherCaption(caption) && new RegExp(captions.next, 'u').test(caption);
}

export function isSubmitCaption(caption: string): boolean {
  return !isOtherCaption(caption) && new RegExp(captions.submit, 'u').test(caption);
}

/** True if the button goes back, chooses a file, signs in or has another purpose of this kind. */
export function isOtherCaption(caption: string): boolean {
  return new RegExp(captions.other, 'u').test(caption);
}

export function addressOf(root: HTMLElement): FormAddress {
  const form = root instanceof HTMLFormElement ? root : root.querySelector('form');
  const url = document.URL;
  const action = form && new URL(form.getAttribute('action') || url, document.baseURI).href;
  return { url, action: action ?? undefined };
}

/**
 * `elements[0]` is the control that sends the form. `elements[1]` is the control that leads to the
 * next step. A control that is not found is undefined.
 */
export function findControls(rules: ReadingRules): {
  report: FormAddress | undefined;
  elements: (HTMLElement | undefined)[];
} {
  const root = findRoot(rules);
  const all =
    root === undefined ? [] : allBelow(root, 'button, input, a[role="button"], [role="button"]');
  const buttons = all.filter(
    (control) =>
      (!(control instanceof HTMLInputElement) ||
        ['submit', 'button', 'image'].includes(control.type)) &&
      isVisible(control),
  );
  const next = buttons.find((button) => isNextCaption(captionOf(button)));
  const submit = findSubmit(rules, root, buttons);
  const report = root === undefined ? undefined : addressOf(root);
  return { report, elements: [submit, next] };
}

export function isSubmitType(button: HTMLElement): boolean {
  const isButton = button instanceof HTMLButtonElement || button instanceof HTMLInputElement;
  return isButton && button.type === 'submit';
}

export function findSubmit(
  rules: ReadingRules,
  root: HTMLElement | undefined,
  buttons: readonly HTMLElement[],
): HTMLElement | undefined {
  if (root === undefined) return undefined;
  if (rules.submit !== undefined) {
    const named = [...allBelow(root, rules.submit), ...allBelow(document, rules.submit)];
    return named.find((button) => isVisible(button) && !isNextCaption(captionOf(button)));
  }
  const outside = root.id === '' ? [] : allBelow(document, `[form="${CSS.escape(root.id)}"]`);
  const candidates = [...buttons, ...outside.filter(isVisible)].filter((button) => {
    const caption = captionOf(button);
    return !isNextCaption(caption) && !isOtherCaption(caption);
  });
  const typed = candidates.filter(isSubmitType);
  const captioned = candidates.filter((button) => isSubmitCaption(captionOf(button)));
  const both = typed.filter((button) => captioned.includes(button));
  for (const few of [both, typed, captioned]) if (few.length === 1) return few[0];
  return candidates.some(isSubmitType) || captioned.length > 0 ? undefined : submitAround(root);
}

/** The only submitting button in the smallest box around a form that contains none. */
export function submitAround(root: HTMLElement): HTMLElement | undefined {
  for (let at = parentAcross(root); at !== null; at = parentAcross(at)) {
    const near = allBelow(at, 'button, input[type="button"], [role="button"]').filter(
      (button) =>
        isVisible(button) &&
        closestAcross(button, 'form') === null &&
        isSubmitCaption(captionOf(button)),
    );
    if (near.length > 0) return near.length === 1 ? near[0] : undefined;
  }
  return undefined;
}

/** The name of a way to the form: its document and its caption. */
export function nameOfWay(control: HTMLElement): string {
  return `${document.URL} ${captionOf(control)}`;
}

/**
 * Finds a visible control that leads to the form and is not in `followed`. A control in a dialog
 * comes first. `href` is undefined unless the control is a link to another document.
 */
export function findEntry({
  selectors,
  followed,
}: {
  readonly selectors: readonly string[];
  readonly followed: readonly string[];
}): {
  report: { readonly name: string | undefined; readonly href: string | undefined };
  element: HTMLElement | undefined;
} {
  const named = selectors.flatMap((selector) => allBelow(document, selector));
  const caption = new RegExp(captions.entry, 'u');
  const captioned = allBelow(document, 'a[href], button, [role="button"]').filter((control) =>
    caption.test(captionOf(control)),
  );
  const fresh = [...named, ...captioned].filter(
    (control) => isVisible(control) && !followed.includes(nameOfWay(control)),
  );
  const element =
    fresh.find((control) => closestAcross(control, '[role="dialog"], dialog') !== null) ?? fresh[0];
  const link = element instanceof HTMLAnchorElement ? element.href : '';
  const isOther =
    /^https?:/u.test(link) && link.replace(/#.*$/u, '') !== document.URL.replace(/#.*$/u, '');
  return {
    report: { name: element && nameOfWay(element), href: isOther ? link : undefined },
    element,
  };
}
