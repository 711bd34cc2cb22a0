/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { ReadingRules } from '../../adapters/adapter.ts';
import type * as masks from './masks.ts';
import type * as visibility from './visibility.ts';

declare const isRendered: typeof visibility.isRendered;
declare const isStandIn: typeof visibility.isStandIn;
declare const twinOf: typeof masks.twinOf;
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

/** The elements whose ids the attribute lists, such as `aria-labelledby`. */
export function namedBy(element: Element, attribute: string): Element[] {
  const ids = (element.getAttribute(attribute) ?? '').split(/\s+/u).filter((id) => id !== '');
  const scope = element.getRootNode();
  if (!(scope instanceof Document) && !(scope instanceof ShadowRoot)) return [];
  return ids.map((id) => scope.getElementById(id)).filter((found) => found !== null);
}

export function textOfElements(elements: readonly Element[]): string {
  return elements
    .map(textOf)
    .filter((text) => text !== '')
    .join(' ');
}

/**
 * The controls that hold the value of a widget without being seen, such as the `<select>` behind a
 * mask. Empty for a native control that a person uses.
 */
export function companionsOf(control: HTMLElement): HTMLElement[] {
  const box = fieldBoxOf(control);
  if (box === null) return [];
  const holders = 'select, input:not([type="file"], [type="hidden"])';
  return allBelow(box, holders).filter((other) => other !== control && isStandIn(other));
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

/** The label of the hidden field that an editor stands in for. */
export function labelsOfTwin(control: HTMLElement): string {
  const twin = twinOf(control);
  return twin === undefined ? '' : textOfElements(labelsFor(twin));
}

export function labelOf(control: HTMLElement, rules: ReadingRules): string {
  const named = questionLabel(control, rules);
  const candidates = [
    () => (named === undefined ? '' : textOf(named)),
    () => labelsOfTwin(control),
    // A widget may name itself by the value that it shows.
    () =>
      textOfElements(namedBy(control, 'aria-labelledby').filter((one) => !control.contains(one))),
    () => textOfElements(labelsFor(control)),
    () => textOfElements(labelsOfCompanions(control)),
    () => withoutValue(control.getAttribute('aria-label') ?? '', control),
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

export function labelsOfCompanions(control: HTMLElement): HTMLLabelElement[] {
  const isWidget = control.matches('[role="combobox"], [aria-haspopup]');
  // Each hidden radio has the label of its option, which is not the question.
  const holders = isWidget ? companionsOf(control).filter((one) => !one.matches('[type]')) : [];
  return holders.flatMap(labelsFor);
}

/** Takes the value that the widget shows off the end of its name. */
export function withoutValue(name: string, control: HTMLElement): string {
  if (!control.matches('[role="combobox"], [aria-haspopup]')) return name;
  const shown = textOf(control) || (control.textContent ?? '').trim();
  if (shown === '' || !name.trim().endsWith(shown)) return name;
  return name.trim().slice(0, -shown.length).trim();
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
  const isOther = (input: HTMLElement): boolean =>
    !controls.some((one) => one === input || one.contains(input)) && !isStandIn(input);
  if (allBelow(group, inputs).some(isOther)) return '';
  const legend = group.querySelector(':scope > legend');
  const named = textOfElements(namedBy(group, 'aria-labelledby'));
  const name = named || (group.getAttribute('aria-label') ?? '');
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
  // The mark may be next to the label.
  const nextTo = [element.previousElementSibling, element.nextElementSibling];
  if (nextTo.some((next) => /^\s*[*✱]\s*$/u.test(next?.textContent ?? ''))) return true;
  return [element, ...element.querySelectorAll('*')].some((part) =>
    getComputedStyle(part, '::after').content.includes('*'),
  );
}
