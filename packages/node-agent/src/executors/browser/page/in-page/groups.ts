/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { ReadingRules } from '../../adapters/adapter.ts';
import type * as dates from './dates.ts';
import type * as labels from './labels.ts';
import type * as masks from './masks.ts';
import type * as visibility from './visibility.ts';

declare const allBelow: typeof visibility.allBelow;
declare const dateFormatOf: typeof dates.dateFormatOf;
declare const editorOf: typeof masks.editorOf;
declare const maskOf: typeof masks.maskOf;
declare const closestAcross: typeof visibility.closestAcross;
declare const companionsOf: typeof labels.companionsOf;
declare const isConcealed: typeof visibility.isConcealed;
declare const isCovered: typeof visibility.isCovered;
declare const isRendered: typeof visibility.isRendered;
declare const isVisible: typeof visibility.isVisible;
declare const isVisibleNear: typeof visibility.isVisibleNear;
declare const labelsFor: typeof labels.labelsFor;
declare const legendOf: typeof labels.legendOf;
declare const questionLabel: typeof labels.questionLabel;
declare const textOf: typeof labels.textOf;
declare const textOfElements: typeof labels.textOfElements;
declare const namedBy: typeof labels.namedBy;

export type Shape =
  | 'text'
  | 'date'
  | 'select'
  | 'combobox'
  | 'radio'
  | 'checkbox'
  | 'button'
  | 'file'
  | 'unsupported';

export function shapeOf(element: HTMLElement, rules: ReadingRules): Shape | undefined {
  if (rules.buttonGroup !== undefined && element.matches(rules.buttonGroup.option)) return 'button';
  const role = element.getAttribute('role');
  if (role === 'radio') return 'radio';
  if (role === 'checkbox' || role === 'switch') return 'checkbox';
  if (role === 'combobox') return element instanceof HTMLSelectElement ? 'select' : 'combobox';
  if (element instanceof HTMLSelectElement) {
    return maskOf(element) === undefined ? 'select' : 'combobox';
  }
  if (element instanceof HTMLTextAreaElement) return 'text';
  if (element instanceof HTMLInputElement) return inputShapeOf(element, rules);
  const popup = element.getAttribute('aria-haspopup');
  if (popup === 'listbox') return 'combobox';
  if (popup !== null) return isMenuOfOptions(element) ? 'combobox' : undefined;
  if (editorOf(element) !== undefined) return 'text';
  return undefined;
}

/** True if a button that opens a menu holds an answer of the form, as a `<select>` does. */
export function isMenuOfOptions(button: HTMLElement): boolean {
  if (button instanceof HTMLInputElement || button.getAttribute('aria-haspopup') === 'dialog') {
    return false;
  }
  return button.getAttribute('aria-required') === 'true' || companionsOf(button).length > 0;
}

export function inputShapeOf(input: HTMLInputElement, rules: ReadingRules): Shape | undefined {
  const { type } = input;
  if (['hidden', 'submit', 'button', 'image', 'reset', 'search'].includes(type)) return undefined;
  if (type === 'radio' || type === 'checkbox' || type === 'date' || type === 'file') return type;
  if ((rules.typeaheads ?? []).some(({ control }) => input.matches(control))) return 'combobox';
  if (['text', 'email', 'tel', 'url', 'number', 'month'].includes(type)) {
    return dateFormatOf(input) === undefined ? 'text' : 'date';
  }
  return 'unsupported';
}

/**
 * True if a person could fill in this control. A control that is hidden or out of the tab order may
 * be a trap for programs (a honeypot).
 */
export function isReachable(control: HTMLElement, shape: Shape, rules: ReadingRules): boolean {
  if (control.matches(':disabled, [aria-disabled="true"]')) return false;
  if (rules.named !== undefined && control.matches(rules.named)) return true;
  if (maskOf(control) !== undefined) return true;
  if (shape === 'file') return isUploadShown(control, rules);
  if (isConcealed(control)) return false;
  const labelled = labelsFor(control);
  if (shape === 'radio' || shape === 'checkbox' || shape === 'button') {
    return isVisible(control) || labelled.some(isVisible);
  }
  if (shape === 'combobox') return isRendered(control) && isVisibleNear(control, 3);
  const isShown = isVisible(control) && control.getAttribute('tabindex') !== '-1';
  return isShown && !isCovered(control);
}

export function isUploadShown(input: HTMLElement, rules: ReadingRules): boolean {
  if (isVisible(input) || labelsFor(input).some(isVisible)) return true;
  const container =
    (rules.question && closestAcross(input, rules.question.container)) ??
    input.parentElement?.parentElement;
  if (!container || container.matches('form, body')) {
    return [...(input.parentElement?.children ?? [])].some(
      (next) => next.matches('button, label, [role="button"]') && isVisible(next),
    );
  }
  return allBelow(container, 'button, label, [role="button"], a').some(isVisible);
}

export function optionLabelOf(option: HTMLElement): string {
  const own = labelsFor(option).map(textOf).filter(Boolean).join(' ');
  // An option may name itself by its question and its text.
  const group = closestAcross(option, '[role="radiogroup"], [role="group"], fieldset');
  const ofGroup = group === null ? [] : namedBy(group, 'aria-labelledby');
  const byIds = textOfElements(
    namedBy(option, 'aria-labelledby').filter((named) => !ofGroup.includes(named)),
  );
  const shown = option instanceof HTMLInputElement ? '' : (option.textContent ?? '').trim();
  const next = option.nextSibling?.textContent?.trim() ?? '';
  return own || byIds || (option.getAttribute('aria-label') ?? '') || shown || next;
}

/**
 * Identifies the question of an option. Options of the same shape with the same result belong to
 * one group. Undefined: the option is in no group.
 */
export function groupOf(
  option: HTMLElement,
  shape: Shape,
  rules: ReadingRules,
): HTMLElement | string | undefined {
  if (shape === 'button') {
    return closestAcross(option, rules.buttonGroup?.container ?? '') ?? undefined;
  }
  const name = option.getAttribute('name') ?? '';
  if (shape === 'radio') {
    return name === '' ? (closestAcross(option, '[role="radiogroup"], fieldset') ?? option) : name;
  }
  if (name.endsWith('[]')) return name;
  const named = questionLabel(option, rules);
  const own: readonly HTMLElement[] = labelsFor(option);
  if (named !== undefined && !named.contains(option) && !own.includes(named)) {
    return closestAcross(option, rules.question?.container ?? '') ?? undefined;
  }
  const container = closestAcross(option, 'fieldset, [role="group"]');
  const boxes = container && allBelow(container, 'input[type="checkbox"], [role="checkbox"]');
  if (container && boxes && boxes.length > 1 && legendOf(boxes) !== '') return container;
  return name === '' ? undefined : name;
}
