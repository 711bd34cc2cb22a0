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

/**
 * True if a person can see the element: it is rendered, not transparent, on the page, and not cut
 * away by itself or by the boxes around it.
 */
export function isVisible(element: Element): boolean {
  if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
  const box = element.getBoundingClientRect();
  if (box.width < 3 || box.height < 3) return false;
  const { scrollWidth } = document.documentElement;
  const isOutside = box.right + window.scrollX <= 0 || box.bottom + window.scrollY <= 0;
  if (isOutside || box.left + window.scrollX >= Math.max(scrollWidth, innerWidth)) return false;
  return !isCutAway(element, box);
}

/** True if no ancestor cuts the element off, by its clip or because it has no size. */
export function hasRoom(element: Element): boolean {
  for (let at = element.parentElement; at !== null; at = at.parentElement) {
    const { clip, clipPath, overflow } = getComputedStyle(at);
    if (/^rect\([01](?:px)?,? [01]/u.test(clip) || /^inset\((?:50|100)%/u.test(clipPath))
      return false;
    const { width, height } = at.getBoundingClientRect();
    if ((width < 3 || height < 3) && overflow !== 'visible') return false;
  }
  return true;
}

export function isShown(element: Element): boolean {
  return isVisible(element) && hasRoom(element);
}

export interface Edges {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/**
 * True if less than 3 px of `box` are left in one direction after the element and its ancestors
 * have clipped it. The content of a scrollable ancestor counts as scrolled into view.
 */
export function isCutAway(element: Element, box: Edges): boolean {
  let { left, top, right, bottom } = box;
  let canSkip = false;
  for (let at: Element | null = element; at !== null; at = parentAcross(at)) {
    const style = getComputedStyle(at);
    const { position, overflowX, overflowY, transform } = style;
    if (isClippedToNothing(style, at)) return true;
    const isTop = at === document.body || at === document.documentElement;
    // A box that is not positioned does not clip the absolute boxes in it.
    const isSkipped = canSkip && position === 'static' && transform === 'none';
    if (at !== element && !isTop && !isSkipped) {
      const edge = at.getBoundingClientRect();
      const scrolls = /auto|scroll/u.test(`${overflowX} ${overflowY}`);
      if (scrolls && edge.width >= 3 && edge.height >= 3) ({ left, top, right, bottom } = edge);
      else {
        if (overflowX !== 'visible') [left, right] = meet(left, right, edge.left, edge.right);
        if (overflowY !== 'visible') [top, bottom] = meet(top, bottom, edge.top, edge.bottom);
      }
      if (right - left < 3 || bottom - top < 3) return true;
      if (!isSkipped) canSkip = false;
    }
    if (position === 'fixed') return false;
    if (position === 'absolute') canSkip = true;
  }
  return false;
}

export function meet(from: number, to: number, least: number, most: number): [number, number] {
  return [Math.max(from, least), Math.min(to, most)];
}

export function parentAcross(element: Element): Element | null {
  const root = element.getRootNode();
  return element.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
}

/** True if `clip` or `clip-path` leaves nothing of the box of the element. */
export function isClippedToNothing(
  { clip, clipPath, position }: CSSStyleDeclaration,
  element: Element,
): boolean {
  const edges = /^rect\(([^)]*)\)/u.exec(clip)?.[1]?.match(/auto|-?[\d.]+/gu);
  if (edges?.length === 4 && ['absolute', 'fixed'].includes(position)) {
    const [top = 0, right = 9, bottom = 9, left = 0] = edges.map((edge) =>
      edge === 'auto' ? undefined : Number(edge),
    );
    if (right - left < 3 || bottom - top < 3) return true;
  }
  if (clipPath === 'none') return false;
  const box = element.getBoundingClientRect();
  const inset = /^inset\(([^)]*)\)/u.exec(clipPath)?.[1]?.replace(/ round.*/u, '');
  if (inset !== undefined) {
    const [top = '0', right = top, bottom = top, left = right] = inset.trim().split(/\s+/u);
    const width = box.width - lengthOf(left, box.width) - lengthOf(right, box.width);
    return width < 3 || box.height - lengthOf(top, box.height) - lengthOf(bottom, box.height) < 3;
  }
  if (/^(?:circle|ellipse)\(0(?:px|%)?(?:[ )]|$)/u.test(clipPath)) return true;
  const numbers = /^polygon\(([^)]*)\)/u.exec(clipPath)?.[1]?.match(/-?[\d.]+/gu) ?? [];
  return numbers.length > 0 && new Set(numbers).size === 1;
}

/** The length in px of a CSS length or percentage. */
export function lengthOf(text: string, wholePx: number): number {
  const number = Number.parseFloat(text);
  return text.endsWith('%') ? (number / 100) * wholePx : number;
}

/**
 * True if an opaque box after the element, or after a near ancestor, lies over all of the element.
 * A banner that is fixed to the window does not count.
 */
export function isCovered(element: Element): boolean {
  const box = element.getBoundingClientRect();
  let at: Element | null = element;
  for (let level = 0; at !== null && level < 4 && !at.matches('form, body'); level += 1) {
    for (let next = at.nextElementSibling; next !== null; next = next.nextElementSibling) {
      // The cheap checks come first, because a long form has many boxes after each of its fields.
      const over = next.getBoundingClientRect();
      const isOver =
        over.left <= box.left + 1 &&
        over.right >= box.right - 1 &&
        over.top <= box.top + 1 &&
        over.bottom >= box.bottom - 1;
      if (!isOver || next instanceof HTMLLabelElement) continue;
      const { position, backgroundColor, pointerEvents } = getComputedStyle(next);
      const isOpaque = /^rgb\(|, 1\)$/u.test(backgroundColor) && pointerEvents !== 'none';
      if (isOpaque && ['absolute', 'relative'].includes(position) && isVisible(next)) return true;
    }
    at = parentAcross(at);
  }
  return false;
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
  if (root instanceof Element && root.shadowRoot !== null) {
    return [...allBelow(root.shadowRoot, selector), ...lightBelow(root, selector)];
  }
  return lightBelow(root, selector);
}

export function lightBelow(root: ParentNode, selector: string): HTMLElement[] {
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
 * Returns the outermost ancestor of `control`, inside the form or `body`, in which all fields that a
 * person can use have the name of `control`. Null if there is no such ancestor.
 */
export function fieldBoxOf(control: HTMLElement): HTMLElement | null {
  const name = control.getAttribute('name');
  let box: HTMLElement | null = null;
  for (let at = control.parentElement; at !== null && !at.matches('form, body');) {
    const others = [
      ...at.querySelectorAll(
        'input:not([type="hidden"]), select, textarea, [aria-haspopup], [role="combobox"]',
      ),
    ];
    const isOther = (other: Element): boolean =>
      other !== control && other.getAttribute('name') !== name && !isStandIn(other);
    if (others.some(isOther)) break;
    box = at;
    at = at.parentElement;
  }
  return box;
}

/**
 * True for a control that only holds the value of a widget: it is hidden from
 * assistive technology, or not rendered, and is no upload.
 */
export function isStandIn(control: Element): boolean {
  if (control.matches('[type="file"]')) return false;
  if (control.matches('[type="hidden"]') || !isRendered(control)) return true;
  return isConcealed(control) && control.matches('input, select, textarea');
}
