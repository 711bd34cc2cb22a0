/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { FormField } from '../../planner/form-model.ts';
import type * as labels from './labels.ts';
import type * as visibility from './visibility.ts';

declare const allBelow: typeof visibility.allBelow;
declare const closestAcross: typeof visibility.closestAcross;
declare const isRendered: typeof visibility.isRendered;
declare const labelsFor: typeof labels.labelsFor;
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

/**
 * The part of a date that the control asks for, and the question of the group that asks for all
 * parts. Undefined unless one group has a day, a month and a year.
 */
export function datePartOf(control: HTMLElement): FormField['datePart'] {
  const group = closestAcross(control, 'fieldset, [role="group"]');
  if (group === null) return undefined;
  const controls = allBelow(group, 'input:not([type="hidden"]), select').filter(isRendered);
  if (controls.length !== 3) return undefined;
  const parts = controls.map((one) => {
    const name =
      (one.getAttribute('aria-label') ?? '') ||
      textOfElements([...namedBy(one, 'aria-labelledby'), ...labelsFor(one)]) ||
      (one.getAttribute('placeholder') ?? '') ||
      (one instanceof HTMLSelectElement ? (one.options[0]?.label ?? '') : '');
    return datePartIn(name);
  });
  if (new Set(parts).size !== 3 || parts.includes(undefined)) return undefined;
  const legend = group.querySelector(':scope > legend');
  const named = textOfElements(namedBy(group, 'aria-labelledby'));
  const question =
    (legend === null ? '' : textOf(legend)) || named || (group.getAttribute('aria-label') ?? '');
  const part = parts[controls.indexOf(control)];
  return question === '' || part === undefined ? undefined : { question, part };
}

export function datePartIn(name: string): 'day' | 'month' | 'year' | undefined {
  const word = name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}]+/gu, ' ')
    .trim();
  const day = 'day|dd|tag|tt|jour|jj|día|dia|giorno|gg|dag|dzień|date';
  const month = 'month|mm|monat|mois|mes|mês|mese|maand|miesiąc|månad|måned';
  const year = 'year|yyyy|jahr|jjjj|année|an|aaaa|año|ano|anno|jaar|rok|rrrr|år|åååå';
  if (new RegExp(`^(?:${day})$`, 'u').test(word)) return 'day';
  if (new RegExp(`^(?:${month})$`, 'u').test(word)) return 'month';
  return new RegExp(`^(?:${year})$`, 'u').test(word) ? 'year' : undefined;
}
