/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { ReadingRules } from '../../adapters/adapter.ts';
import type * as dropdown from './dropdown.ts';
import type * as groups from './groups.ts';
import type { FieldState } from './reports.ts';
import type * as visibility from './visibility.ts';

declare const allBelow: typeof visibility.allBelow;
declare const closestAcross: typeof visibility.closestAcross;
declare const isVisible: typeof visibility.isVisible;
declare const fieldBoxOf: typeof visibility.fieldBoxOf;
declare const optionLabelOf: typeof groups.optionLabelOf;
declare const shownBy: typeof dropdown.shownBy;

export function isChosen(option: HTMLElement): boolean {
  if (option instanceof HTMLInputElement) return option.checked;
  return ['aria-checked', 'aria-pressed', 'aria-selected'].some(
    (name) => option.getAttribute(name) === 'true',
  );
}

export function chosenOf(options: readonly HTMLElement[]): FieldState {
  return { kind: 'chosen', labels: options.filter(isChosen).map(optionLabelOf) };
}

export function selectedOf(select: HTMLSelectElement): FieldState {
  const labels = [...select.selectedOptions]
    .filter((option) => option.value !== '')
    .map((option) => option.label.trim());
  return { kind: 'chosen', labels };
}

export function isPlaceholder(text: string): boolean {
  return /^(?:select|choose|please select)\b|^[-–—.…]*$/iu.test(text);
}

/** The texts that the widget shows, except a placeholder such as "Select". */
export function comboboxStateOf(control: HTMLElement): FieldState {
  return { kind: 'chosen', labels: shownBy(control).filter((text) => !isPlaceholder(text)) };
}

export function filesOf(input: HTMLInputElement, rules: ReadingRules): FieldState {
  const own = [...(input.files ?? [])].map(({ name }) => name);
  if (own.length > 0) return { kind: 'files', names: own };
  const container = rules.question && closestAcross(input, rules.question.container);
  const shown = container ?? input.parentElement?.parentElement;
  if (!shown || shown.matches('form, body')) return { kind: 'files', names: [] };
  const names = allBelow(shown, '*')
    .filter((part) => part.childElementCount === 0 && isVisible(part))
    .map((part) => (part.textContent ?? '').trim())
    .filter((text) => /^[^\n]{1,200}\.[a-z0-9]{2,5}$/iu.test(text));
  return { kind: 'files', names };
}

export function isRefused(control: HTMLElement): boolean {
  if (control.getAttribute('aria-invalid') === 'true') return true;
  const isNative =
    control instanceof HTMLInputElement ||
    control instanceof HTMLTextAreaElement ||
    control instanceof HTMLSelectElement;
  if (!isNative || control.form?.noValidate === true) return false;
  return control.willValidate && !control.validity.valid;
}

export function hasMessageFor(controls: readonly HTMLElement[], rules: ReadingRules): boolean {
  return controls.some((control) => {
    const ids = `${control.getAttribute('aria-errormessage') ?? ''} ${control.getAttribute('aria-describedby') ?? ''}`;
    const isDescribed = ids
      .split(/\s+/u)
      .map((id) => (id === '' ? null : document.getElementById(id)))
      .some((found) => found?.matches(rules.fieldError) === true && isVisible(found));
    if (isDescribed) return true;
    const question = rules.question && closestAcross(control, rules.question.container);
    const container = question ?? fieldBoxOf(control);
    return container !== null && allBelow(container, rules.fieldError).some(isVisible);
  });
}
