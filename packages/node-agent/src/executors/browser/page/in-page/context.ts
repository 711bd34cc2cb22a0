/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type * as labels from './labels.ts';
import type * as visibility from './visibility.ts';

declare const isRendered: typeof visibility.isRendered;
declare const namedBy: typeof labels.namedBy;
declare const parentAcross: typeof visibility.parentAcross;
declare const textOf: typeof labels.textOf;
declare const textOfElements: typeof labels.textOfElements;

/** The description that the page gives the control, such as a hint about its format. */
export function hintOf(control: HTMLElement): string {
  const described = textOfElements(namedBy(control, 'aria-describedby'));
  const own = control.getAttribute('aria-description') ?? '';
  return (described || own || (control.getAttribute('placeholder') ?? '')).slice(0, 500);
}

/**
 * The headings, legends and ARIA names of the boxes around the control, the nearest first. A
 * heading counts for the fields after it in its own box, or after the box that it fills.
 */
export function contextOf(control: HTMLElement): string[] {
  const found: string[] = [];
  const headings = 'legend, h2, h3, h4, h5, h6, [role="heading"]:not([aria-level="1"])';
  let below: Element = control;
  for (let at = parentAcross(control); at !== null; at = parentAcross(at)) {
    if (at.matches('form, body, main')) break;
    for (let before = below.previousElementSibling; before !== null;) {
      const inside = before.matches(headings) ? before : before.querySelector(headings);
      const isAlone = inside !== null && textOf(before) === textOf(inside);
      if (inside !== null && isAlone && isRendered(inside)) {
        found.push(textOf(inside));
        break;
      }
      before = before.previousElementSibling;
    }
    if (at.matches('fieldset, section, [role="group"], [role="region"], [aria-label]')) {
      const legend = at.querySelector(':scope > legend');
      const named = textOfElements(namedBy(at, 'aria-labelledby'));
      found.push(named || (at.getAttribute('aria-label') ?? '') || (legend ? textOf(legend) : ''));
    }
    below = at;
  }
  return [...new Set(found.filter((text) => text !== '' && text.length <= 200))].slice(0, 5);
}
