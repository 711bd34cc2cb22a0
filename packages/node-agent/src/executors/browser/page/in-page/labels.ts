/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { ReadingRules } from '../../adapters/adapter.ts';
import type * as visibility from './visibility.ts';

declare const isRendered: typeof visibility.isRendered;
declare const closestAcross: typeof visibility.closestAcross;
declare const fieldBoxOf: typeof visibility.fieldBoxOf;
declare const allBelow: typeof visibility.allBelow;

export function textOf(element: Element): string {
  const skipped = 'input, select, textarea, button, option, script, style, svg, [role="alert"]';
  let text = '';
  const visit = (node: Node): void => {
    if (node.nodeType === Node.TEXT_NODE) text += node.nodeValue ?? '';
    if (!(node instanceof Element)) return;
    if (node !== element && (node.matches(skipped) || !isRendered(node))) return;
    for (const child of node.childNodes) visit(child);
    text += ' ';
  };
  visit(element);
  return text.replace(/\s+/gu, ' ').trim().slice(0, 2_000);
}

export function textOfIds(element: Element, attribute: string): string {
  const ids = (element.getAttribute(attribute) ?? '').split(/\s+/u).filter((id) => id !== '');
  const scope = element.getRootNode();
  if (!(scope instanceof Document) && !(scope instanceof ShadowRoot)) return '';
  const texts = ids.map((id) => scope.getElementById(id)).map((found) => found && textOf(found));
  return texts.filter((text) => text !== null && text !== '').join(' ');
}

/**
 * The `<label>` elements of an input, select, textarea or button, including a label that encloses
 * the control. Empty for any other element.
 */
export function labelsFor(control: Element): HTMLLabelElement[] {
  const isLabelable =
    control instanceof HTMLInputElement ||
    control instanceof HTMLSelectElement ||
    control instanceof HTMLTextAreaElement ||
    control instanceof HTMLButtonElement;
  return isLabelable ? [...(control.labels ?? [])] : [];
}

/**
 * The label of the question that contains the control, by the adapter's rules. A label does not
 * count if it belongs to another control of the same question.
 */
export function questionLabel(control: Element, rules: ReadingRules): HTMLElement | undefined {
  if (rules.question === undefined) return undefined;
  const container = closestAcross(control, rules.question.container);
  if (container === null) return undefined;
  return allBelow(container, rules.question.label).find((label) => {
    const labelled = label instanceof HTMLLabelElement ? label.control : null;
    return labelled === null || labelled === control || !container.contains(labelled);
  });
}

export function precedingText(control: HTMLElement, rules: ReadingRules): string {
  const question = rules.question && closestAcross(control, rules.question.container);
  const container = question ?? fieldBoxOf(control);
  if (container === null) return '';
  for (let at: Element | null = control; at !== null && at !== container; at = at.parentElement) {
    let before = at.previousElementSibling;
    while (before !== null) {
      if (before.querySelector('input, select, textarea') !== null) return '';
      const text = textOf(before);
      if (text !== '') return text;
      before = before.previousElementSibling;
    }
  }
  return '';
}

export function labelOf(control: HTMLElement, rules: ReadingRules): string {
  const named = questionLabel(control, rules);
  const candidates = [
    () => (named === undefined ? '' : textOf(named)),
    () => textOfIds(control, 'aria-labelledby'),
    () => labelsFor(control).map(textOf).filter(Boolean).join(' '),
    () => control.getAttribute('aria-label') ?? '',
    () => legendOf([control]),
    () => precedingText(control, rules),
    () => control.getAttribute('title') ?? '',
    () => (rules.canUsePlaceholder ? (control.getAttribute('placeholder') ?? '') : ''),
  ];
  for (const candidate of candidates) {
    const text = candidate().trim();
    if (text !== '') return text;
  }
  return '';
}

/**
 * The legend or the ARIA name of the nearest group around the first control. Empty if there is
 * none, or if the group has a control that is not in `controls`.
 */
export function legendOf(controls: readonly HTMLElement[]): string {
  const [first] = controls;
  const group = first && closestAcross(first, 'fieldset, [role="radiogroup"], [role="group"]');
  if (!group) return '';
  const inputs = 'input:not([type="hidden"]), select, textarea';
  if (!allBelow(group, inputs).every((input) => controls.includes(input))) return '';
  const legend = group.querySelector(':scope > legend');
  const name = textOfIds(group, 'aria-labelledby') || (group.getAttribute('aria-label') ?? '');
  return (legend === null ? '' : textOf(legend)) || name;
}

export function groupLabelOf(controls: readonly HTMLElement[], rules: ReadingRules): string {
  const [first] = controls;
  if (first === undefined) return '';
  const legend = legendOf(controls);
  if (legend !== '') return legend;
  const named = questionLabel(first, rules);
  const isOption = named !== undefined && controls.some((one) => named.contains(one));
  if (named !== undefined && !isOption) return textOf(named);
  return precedingText(first, rules);
}

export function hasRequiredMark(label: string, element: Element | undefined): boolean {
  if (/^\s*[*✱]|[*✱]\s*$|[([]required[)\]]\s*$/iu.test(label)) return true;
  if (element === undefined) return false;
  return [element, ...element.querySelectorAll('*')].some((part) =>
    getComputedStyle(part, '::after').content.includes('*'),
  );
}
