/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type * as visibility from './visibility.ts';

declare const allBelow: typeof visibility.allBelow;
declare const isShown: typeof visibility.isShown;

/**
 * The visible box that a script of the page shows in place of a hidden `<select>`. Undefined if the
 * select is visible, or if no box stands next to it, as for a trap.
 */
export function maskOf(control: Element | undefined): HTMLElement | undefined {
  if (!(control instanceof HTMLSelectElement) || isShown(control)) return undefined;
  const boxes = '[role="combobox"], [aria-haspopup], button, a, [tabindex="0"], input:not([name])';
  const fields = 'input[name]:not([type="hidden"]), select, textarea';
  let at = control.parentElement;
  for (let level = 0; at !== null && level < 3; level += 1, at = at.parentElement) {
    if (at.matches('form, body, fieldset')) return undefined;
    const others = allBelow(at, fields).filter((one) => one !== control);
    if (others.some((one) => one instanceof HTMLSelectElement || isShown(one))) return undefined;
    const box = allBelow(at, boxes).find((one) => isShown(one) && !isSending(one));
    if (box !== undefined) return box;
  }
  return undefined;
}

export function isSending(box: HTMLElement): boolean {
  const isButton = box instanceof HTMLButtonElement || box instanceof HTMLInputElement;
  return isButton && (box.type === 'submit' || box.type === 'image') && box.form !== null;
}

/**
 * The element of an editor that holds the formatted text: the control itself, or the body of the
 * document in a frame. Undefined if the control is no such editor.
 */
export function editorOf(control: Element): HTMLElement | undefined {
  if (!(control instanceof HTMLIFrameElement)) {
    return control instanceof HTMLElement && control.isContentEditable ? control : undefined;
  }
  const inner = control.contentDocument;
  if (inner === null) return undefined;
  return inner.body.isContentEditable || inner.designMode === 'on' ? inner.body : undefined;
}

/**
 * The hidden field that the editor stands in for. Its label is the label of the editor. Undefined
 * if there is none, or more than one.
 */
export function twinOf(control: Element): HTMLTextAreaElement | undefined {
  if (editorOf(control) === undefined) return undefined;
  let at = control.parentElement;
  for (let level = 0; at !== null && level < 4; level += 1, at = at.parentElement) {
    const twins = [...at.querySelectorAll('textarea')].filter((one) => !isShown(one));
    if (twins.length > 0) return twins.length === 1 ? twins[0] : undefined;
    if (at.matches('form, body')) return undefined;
  }
  return undefined;
}
