/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/* The functions of this folder run in the page. They use nothing but the page and each other. */

/**
 * True if the browser renders the element, as `checkVisibility` finds. The size, the position and
 * the opacity of the element do not matter.
 */
export function isRendered(element: Element): boolean {
  return element.checkVisibility({ visibilityProperty: true });
}

/** True if `aria-hidden` or `inert` hides the element from assistive technology. */
export function isConcealed(element: Element): boolean {
  return closestAcross(element, '[aria-hidden="true"], [inert]') !== null;
}

export function isVisible(element: Element): boolean {
  if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
  const box = element.getBoundingClientRect();
  if (box.width < 3 || box.height < 3) return false;
  if (box.right + window.scrollX <= 0 || box.bottom + window.scrollY <= 0) return false;
  const { clip, clipPath } = getComputedStyle(element);
  return !/^rect\(0(px)?,? 0|^rect\(1px,? 1px/u.test(clip) && !clipPath.startsWith('inset(50%');
}

export function isVisibleNear(element: Element, levels: number): boolean {
  let at: Element | null = element;
  for (let level = 0; at !== null && level <= levels; level += 1) {
    if (isVisible(at)) return true;
    at = at.parentElement;
  }
  return false;
}

/**
 * Returns the elements below `root` that match `selector`, in document order. Also searches the
 * open shadow roots below `root`.
 */
export function allBelow(root: ParentNode, selector: string): HTMLElement[] {
  const elements = [...root.querySelectorAll<HTMLElement>('*')];
  const hasShadow = elements.some(({ shadowRoot }) => shadowRoot !== null);
  if (!hasShadow) return [...root.querySelectorAll<HTMLElement>(selector)];
  const found: HTMLElement[] = [];
  for (const element of elements) {
    if (element.matches(selector)) found.push(element);
    if (element.shadowRoot !== null) found.push(...allBelow(element.shadowRoot, selector));
  }
  return found;
}

/** Like `closest`, but at the top of a shadow root the search continues at the host of the root. */
export function closestAcross(element: Element, selector: string): HTMLElement | null {
  let at: Element | null = element;
  while (at !== null) {
    const found: HTMLElement | null = at.closest<HTMLElement>(selector);
    if (found !== null) return found;
    const root: Node = at.getRootNode();
    at = root instanceof ShadowRoot ? root.host : null;
  }
  return null;
}

/**
 * Returns the outermost ancestor of `control`, inside the form or `body`, in which all fields have
 * the name of `control`. Null if there is no such ancestor.
 */
export function fieldBoxOf(control: HTMLElement): HTMLElement | null {
  const name = control.getAttribute('name');
  let box: HTMLElement | null = null;
  for (let at = control.parentElement; at !== null && !at.matches('form, body');) {
    const others = [...at.querySelectorAll('input:not([type="hidden"]), select, textarea')];
    if (others.some((other) => other !== control && other.getAttribute('name') !== name)) break;
    box = at;
    at = at.parentElement;
  }
  return box;
}
