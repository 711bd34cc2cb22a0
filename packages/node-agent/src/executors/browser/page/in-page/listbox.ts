/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type * as labels from './labels.ts';
import type { ListboxReport } from './reports.ts';
import type * as visibility from './visibility.ts';

declare const allBelow: typeof visibility.allBelow;
declare const isRendered: typeof visibility.isRendered;
declare const isVisible: typeof visibility.isVisible;
declare const textOf: typeof labels.textOf;

export function listboxOf(control: HTMLElement): Element | undefined {
  const ids = `${control.getAttribute('aria-controls') ?? ''} ${control.getAttribute('aria-owns') ?? ''}`;
  const root = control.getRootNode();
  const scope = root instanceof ShadowRoot ? root : document;
  for (const id of ids.split(/\s+/u)) {
    const named = id === '' ? null : scope.getElementById(id);
    if (named !== null && isRendered(named)) return named;
  }
  const lists = '[role="listbox"], [class*="select__menu"]';
  let at: Element | null = control.parentElement;
  for (let level = 0; at !== null && level < 4 && !at.matches('form, body'); level += 1) {
    const near = [...at.querySelectorAll(lists)].find(isVisible);
    if (near !== undefined) return near;
    at = at.parentElement;
  }
  const open = allBelow(document, lists).filter(isVisible);
  return open.length === 1 ? open[0] : undefined;
}

export function isUsable(option: Element): boolean {
  return option.getAttribute('aria-disabled') !== 'true' && !option.hasAttribute('disabled');
}

/**
 * Reads the options of the control's listbox. With `selector`, reads the elements of the page that
 * match it instead. Leaves out hidden and disabled elements.
 */
export function readListbox(
  control: HTMLElement,
  selector: string | undefined,
): { report: ListboxReport; elements: Element[] } {
  const list = selector === undefined ? listboxOf(control) : document.body;
  const wanted = selector ?? '[role="option"], [class*="select__option"]';
  const shown = list === undefined ? [] : allBelow(list, wanted).filter(isVisible);
  const elements = shown.filter(isUsable);
  const status = list === undefined ? '' : textOf(list);
  const isBusy = list?.getAttribute('aria-busy') === 'true';
  return {
    report: {
      isShown: selector === undefined ? list !== undefined : shown.length > 0,
      isLoading: isBusy || /^(?:loading|searching)\b/iu.test(status),
      labels: elements.map(textOf),
    },
    elements,
  };
}

export async function awaitListbox(
  control: HTMLElement,
  asked: {
    readonly selector: string | undefined;
    /**
     * The labels that the caller knows already, joined by line breaks. The wait ends when the page
     * shows other labels. Undefined ends the wait at once.
     */
    readonly known: string | undefined;
    readonly limitMs: number;
  },
): Promise<{ report: ListboxReport; elements: Element[] }> {
  const untilMs = performance.now() + asked.limitMs;
  for (;;) {
    const read = readListbox(control, asked.selector);
    if (read.report.labels.join('\n') !== asked.known || performance.now() > untilMs) return read;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
