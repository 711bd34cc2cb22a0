import type { Comparison, Direction } from './reading/comparison.ts';
import { itemsOf, memberOf, resolveRef, textOf } from './reading/read-json.ts';

/** The members that a schema requires, by error code (`terminal_state` requires `submissionId`). */
type RequiredByCode = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Reports each member that the old schema requires for an error code and the new one does not. In
 * the schema of a request, also reports the opposite.
 */
export function compareConditions(
  context: Comparison,
  direction: Direction,
  at: string,
  was: unknown,
  now: unknown,
): void {
  const before = requiredByCode(context.frozen, was);
  const after = requiredByCode(context.present, now);
  const always = requiredAlways(context.present, now);
  const gone = lost(before, (code, member) => always.has(member) || has(after, code, member));
  const added = lost(after, (code, member) => has(before, code, member));
  for (const what of gone) context.found.push(`${at}: ${what} is optional now`);
  if (direction === 'response') return;
  for (const what of added) context.found.push(`${at}: ${what} is required now`);
}

function has(all: RequiredByCode, code: string, member: string): boolean {
  return all.get(code)?.has(member) ?? false;
}

function lost(
  all: RequiredByCode,
  isKept: (code: string, member: string) => boolean,
): readonly string[] {
  return [...all].flatMap(([code, members]) =>
    [...members]
      .filter((member) => !isKept(code, member))
      .map((member) => `for the error code ${code}, the member ${member}`),
  );
}

function partsOf(document: unknown, schema: unknown): readonly unknown[] {
  const whole = resolveRef(document, schema);
  const parts = itemsOf(memberOf(whole, 'allOf')).flatMap((part) => partsOf(document, part));
  return [whole, ...parts];
}

function requiredAlways(document: unknown, schema: unknown): ReadonlySet<string> {
  return new Set(partsOf(document, schema).flatMap(requiredOf));
}

function requiredOf(schema: unknown): string[] {
  return itemsOf(memberOf(schema, 'required')).map(textOf);
}

function requiredByCode(document: unknown, schema: unknown): RequiredByCode {
  const found = new Map<string, Set<string>>();
  const add = (distinguishing: unknown, consequence: unknown) => {
    const code = memberOf(memberOf(memberOf(distinguishing, 'properties'), 'code'), 'const');
    if (typeof code !== 'string') return;
    found.set(code, new Set([...(found.get(code) ?? []), ...requiredOf(consequence)]));
  };
  for (const part of partsOf(document, schema)) {
    add(memberOf(part, 'if'), memberOf(part, 'then'));
    for (const variant of itemsOf(memberOf(part, 'oneOf'))) add(variant, variant);
  }
  return found;
}
