import type { Mutant } from '../mutant.ts';
import { functionBodies } from './typescript.ts';

/** A source file that contains many mutants, and how many of those it contains. */
export interface Switched {
  readonly text: string;
  /** The ids of the mutants in `text`. */
  readonly ids: ReadonlySet<string>;
}

interface Body {
  readonly start: number;
  readonly end: number;
  readonly isBlock: boolean;
  readonly own: Mutant[];
  readonly inner: Body[];
}

/**
 * Returns the text with a copy of a function's body for each mutant in it. At each call,
 * `globalThis.svcMutant` chooses the copy. Leaves out the mutants outside of functions.
 */
export function switchedText(file: string, text: string, mutants: readonly Mutant[]): Switched {
  const bodies = functionBodies(file, text).map(({ at, end, isBlock }): Body => {
    return { start: at, end: isBlock ? end - 1 : end, isBlock, own: [], inner: [] };
  });
  const ids = new Set<string>();
  for (const mutant of mutants) {
    const body = bodies[mutant.reach - 1];
    if (body === undefined || !contains(body, mutant)) continue;
    body.own.push(mutant);
    ids.add(mutant.id);
  }
  const outermost: Body[] = [];
  for (const body of bodies) {
    const around = bodies.filter((other) => other !== body && contains(other, body));
    const parent = around.toSorted((one, other) => other.start - one.start)[0];
    (parent?.inner ?? outermost).push(body);
  }
  return { text: replaced(text, { start: 0, end: text.length }, outermost), ids };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function contains(outer: Span, inner: Span): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}

/** The text of a span in which each of the bodies is replaced by its copies. */
function replaced(text: string, { start, end }: Span, bodies: readonly Body[]): string {
  let last = start;
  let result = '';
  for (const body of bodies.toSorted((one, other) => one.start - other.start)) {
    result += text.slice(last, body.start) + copiesOf(text, body);
    last = body.end;
  }
  return result + text.slice(last, end);
}

function copiesOf(text: string, body: Body): string {
  const original = replaced(text, body, body.inner);
  const copies = body.own.map((mutant) => {
    const { start, end, after, id } = mutant;
    const copy = text.slice(body.start, start) + after + text.slice(end, body.end);
    const test = `globalThis.svcMutant === ${JSON.stringify(id)}`;
    return body.isBlock ? `if (${test}) {${copy}\n} else ` : `${test} ? (${copy}\n) : `;
  });
  if (copies.length === 0) return original;
  const [open, close] = body.isBlock ? ['{', '\n}'] : ['(', '\n)'];
  const rest = `${open}${original}${close}`;
  return body.isBlock ? `${copies.join('')}${rest}` : `(${copies.join('')}${rest})`;
}
