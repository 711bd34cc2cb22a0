/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type * as labels from './labels.ts';
import type { ChoicesReport } from './reports.ts';
import type * as visibility from './visibility.ts';

declare const allBelow: typeof visibility.allBelow;
declare const isRendered: typeof visibility.isRendered;
declare const isShown: typeof visibility.isShown;
declare const textOf: typeof labels.textOf;

/** The elements that the page showed before a widget was opened. */
export interface Snapshot {
  readonly elements: ReadonlySet<Element>;
  /** Texts with their places: a page may render the same text again as another element. */
  readonly places: ReadonlySet<string>;
}

/** The whole text of an option, also of one that is a button or that contains one. */
export function choiceText(element: Element): string {
  const text = textOf(element) || (element.getAttribute('aria-label') ?? '');
  return text || (element.textContent ?? '').replace(/\s+/gu, ' ').trim().slice(0, 2_000);
}

export function hasOwnText(element: Element): boolean {
  return [...element.childNodes].some(
    (node) => node.nodeType === Node.TEXT_NODE && (node.nodeValue ?? '').trim() !== '',
  );
}

export function optionRoles(): string {
  return '[role="option"], [role="menuitem"], [role="menuitemradio"], [role="menuitemcheckbox"], [role="treeitem"]';
}

/** The visible elements that directly contain text, options, and fields to type into. */
export function shownElements(): Element[] {
  const skipped = 'script, style, noscript, template, option, title';
  const always = `input, textarea, [contenteditable="true"], ${optionRoles()}`;
  return allBelow(document, '*').filter(
    (element) =>
      (hasOwnText(element) || element.matches(always)) &&
      !element.matches(skipped) &&
      isShown(element),
  );
}

export function placeOf(element: Element): string {
  const { left, top } = element.getBoundingClientRect();
  const place = [left + window.scrollX, top + window.scrollY].map(Math.round).join(' ');
  return `${place} ${(element.textContent ?? '').trim().slice(0, 200)}`;
}

export function takeSnapshot(): Snapshot {
  const elements = shownElements();
  return { elements: new Set(elements), places: new Set(elements.map(placeOf)) };
}

/** The list that the control names as its own, if the page shows it. */
export function listOf(control: HTMLElement): Element | undefined {
  const names = ['aria-controls', 'aria-owns'].flatMap((name) =>
    (control.getAttribute(name) ?? '').split(/\s+/u),
  );
  const root = control.getRootNode();
  const scope = root instanceof ShadowRoot ? root : document;
  for (const id of names) {
    const named = id === '' ? null : scope.getElementById(id);
    if (named !== null && named !== control && isRendered(named)) return named;
  }
  let at: Element | null = control.parentElement;
  for (let level = 0; at !== null && level < 4 && !at.matches('form, body'); level += 1) {
    const near = [...at.querySelectorAll('[role="listbox"], [role="menu"]')].find(isShown);
    if (near !== undefined) return near;
    at = at.parentElement;
  }
  return undefined;
}

export function plainText(element: Element): string {
  return (element.textContent ?? '').replace(/\s+/gu, ' ').trim();
}

/** The outermost element that has the text of the element and no other text. */
export function itemOf(holder: Element): Element {
  const text = plainText(holder);
  let item = holder;
  for (let at = item.parentElement; at !== null && !at.matches('body, form');) {
    if (plainText(at) !== text) break;
    item = at;
    at = at.parentElement;
  }
  return item;
}

/**
 * True if the texts below `parent` are options next to each other. False if they are the parts of
 * one option, such as a name next to a description.
 */
export function isListOf(parent: Element, item: Element): boolean {
  if (hasOwnText(parent)) return false;
  const isInline = getComputedStyle(item).display.startsWith('inline');
  return [...parent.children].every((other) => {
    if (other === item || plainText(other) === '' || !isShown(other)) return true;
    if (other.tagName !== item.tagName) return false;
    return !isInline || (item.className !== '' && other.classList[0] === item.classList[0]);
  });
}

/** Elements that are new since the snapshot, with the list of the control, as options. */
export function optionsNow(control: HTMLElement, before: Snapshot): Element[] {
  const list = listOf(control);
  const inList = list === undefined ? [] : allBelow(list, optionRoles()).filter(isShown);
  if (inList.length > 0) return inList;
  const fresh = shownElements().filter(
    (element) =>
      !before.elements.has(element) &&
      !before.places.has(placeOf(element)) &&
      !element.matches('input, textarea') &&
      !control.contains(element),
  );
  const withRole = fresh.flatMap((element) => element.closest(optionRoles()) ?? []);
  if (withRole.length > 0) return [...new Set(withRole)];
  const lists = new Map<Element, boolean>();
  const items = new Set<Element>();
  for (const item of fresh.map(itemOf)) {
    const parent = item.parentElement;
    if (parent === null || plainText(item).length > 300) continue;
    const isList = lists.get(parent) ?? isListOf(parent, item);
    lists.set(parent, isList);
    if (isList) items.add(item);
  }
  return [...items];
}

export function isUsable(option: Element): boolean {
  return option.getAttribute('aria-disabled') !== 'true' && !option.hasAttribute('disabled');
}

export function isMarkedChosen(option: Element): boolean {
  return ['aria-selected', 'aria-checked'].some((name) => option.getAttribute(name) === 'true');
}

/** Reads the options that the widget offers since the snapshot. Leaves out disabled options. */
export function readChoices(
  control: HTMLElement,
  { before }: { readonly before: Snapshot },
): { report: ChoicesReport; elements: Element[] } {
  const list = listOf(control);
  const all = optionsNow(control, before);
  const elements = all.filter(isUsable).slice(0, 2_000);
  const status = list === undefined ? '' : textOf(list);
  return {
    report: {
      isShown: all.length > 0 || (list !== undefined && isShown(list)),
      isLoading:
        list?.getAttribute('aria-busy') === 'true' ||
        /^(?:loading|searching|lade|lädt|suche|chargement|recherche|cargando|buscando|carregando|caricamento|ricerca|laden|zoeken|ładowanie|laddar|söker|indlæser|søger)/iu.test(
          status,
        ),
      labels: elements.map(choiceText),
      chosen: elements.map(isMarkedChosen),
    },
    elements,
  };
}

/**
 * The element of the widget that a person presses: the control, or else the nearest visible element
 * around it that contains no other field.
 */
export function boxOf(control: HTMLElement): HTMLElement {
  const { width } = control.getBoundingClientRect();
  if (isShown(control) && width >= 20) return control;
  const fields = 'input:not([type="hidden"]), select, textarea, [role="combobox"]';
  let box = control;
  for (let at = control.parentElement; at !== null; at = at.parentElement) {
    const others = [...at.querySelectorAll(fields)].filter((one) => one !== control);
    if (at.matches('form, body, label') || others.some(isShown)) break;
    box = at;
    if (isShown(at) && at.getBoundingClientRect().width >= 40) break;
  }
  return box;
}

export function takesText(element: Element): boolean {
  return element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement
    ? !element.readOnly && !element.disabled
    : element instanceof HTMLElement && element.isContentEditable;
}

/**
 * The field for a search: the one with the focus, if it is the control or came with the list, or
 * else the control. Undefined if no such field takes a text.
 */
export function searchFieldOf(
  control: HTMLElement,
  { before }: { readonly before: Snapshot },
): HTMLElement | undefined {
  let active: Element | null = document.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  const isOwn = active !== null && (control.contains(active) || !before.elements.has(active));
  if (active instanceof HTMLElement && isOwn && takesText(active)) return active;
  return takesText(control) ? control : undefined;
}

/**
 * The texts that the closed widget shows: its value, and each visible text around the control that
 * belongs to no other field, no label and no open list.
 */
export function shownBy(control: HTMLElement): string[] {
  const value = control instanceof HTMLInputElement ? control.value.trim() : '';
  if (value !== '') return [value];
  const fields = 'input:not([type="hidden"]), select, textarea, [role="combobox"], [aria-haspopup]';
  const labelIds = ['aria-labelledby', 'aria-describedby', 'aria-errormessage']
    .flatMap((name) => (control.getAttribute(name) ?? '').split(/\s+/u))
    .filter((id) => id !== '');
  const isOther = (one: Element): boolean => !control.contains(one) && isShown(one);
  let box: Element = control;
  for (let level = 0; level < 5; level += 1) {
    const at: Element | null = box.parentElement;
    if (at === null || at.matches('form, body, label, fieldset, [role="dialog"]')) break;
    if ([...at.querySelectorAll(fields)].some((one) => one !== control && isOther(one))) break;
    box = at;
  }
  const skipped =
    'label, legend, [role="listbox"], [role="menu"], [role="alert"], [aria-live], script, style, option';
  const isLabel = (part: Element): boolean => {
    if (control.contains(part)) return false;
    if (part.closest(skipped) !== null && part.closest(skipped)?.contains(control) !== true) {
      return true;
    }
    return labelIds.some((id) => part.closest(`[id="${CSS.escape(id)}"]`) !== null);
  };
  const parts = [box, ...box.querySelectorAll('*')].filter(
    (part) => hasOwnText(part) && isShown(part) && !isLabel(part),
  );
  return [...new Set(parts.map(plainText))].filter((text) => text.length <= 300).slice(0, 50);
}

export function stopSubmit(event: Event): void {
  event.preventDefault();
  event.stopImmediatePropagation();
}

export function stayOnPage(event: Event): void {
  const [target] = event.composedPath();
  const link = target instanceof Element ? target.closest('a[href], area[href]') : null;
  const href = (link?.getAttribute('href') ?? '#').trim();
  if (!/^(?:#|javascript:)/iu.test(href)) event.preventDefault();
}

/**
 * Keeps a press on a widget from sending the form or leaving the page, until `lower` is called.
 * Handlers of the page run, but the `submit` event and the way of a link end here.
 */
export function raiseGuard(): { lower: () => void } {
  window.addEventListener('submit', stopSubmit, true);
  window.addEventListener('click', stayOnPage, true);
  return {
    lower: () => {
      window.removeEventListener('submit', stopSubmit, true);
      window.removeEventListener('click', stayOnPage, true);
    },
  };
}
