import { itemsOf, memberOf, membersOf, resolveRef } from './read-json.ts';

/** Two documents and the breaking changes found between them. */
export interface Comparison {
  readonly frozen: unknown;
  readonly present: unknown;
  readonly found: string[];
}

/**
 * `request`: every value that was accepted must still be accepted. `response`: no value may be sent
 * that could not be sent before, except for new members.
 */
export type Direction = 'request' | 'response';

/**
 * Members that may get new values in answers: codes of errors and failures, types of events and of
 * statement lines. Clients handle an unknown value by the members next to it.
 */
const growingMembers: readonly string[] = ['code', 'type'];

export function compareSchemas(
  context: Comparison,
  direction: Direction,
  at: string,
  was: unknown,
  now: unknown,
  memberName = '',
): void {
  const before = resolveRef(context.frozen, was);
  const after = resolveRef(context.present, now);
  const report = (what: string) => context.found.push(`${at}: ${what}`);
  compareTypes(direction, before, after, report);
  compareValues(direction, before, after, memberName, report);
  compareBounds(direction, before, after, report);
  compareRequired(direction, before, after, report);
  compareMembers(context, direction, at, before, after);
  compareVariants(context, direction, at, before, after);
  const items = memberOf(before, 'items');
  if (items !== undefined) {
    compareSchemas(context, direction, `${at}[]`, items, memberOf(after, 'items'));
  }
  itemsOf(memberOf(before, 'allOf')).forEach((part, index) => {
    compareSchemas(context, direction, at, part, itemsOf(memberOf(after, 'allOf'))[index]);
  });
}

type Report = (what: string) => void;

function typesOf(schema: unknown): unknown[] {
  return [memberOf(schema, 'type') ?? []].flat();
}

function compareTypes(direction: Direction, was: unknown, now: unknown, report: Report): void {
  const before = typesOf(was);
  const after = typesOf(now);
  const isTaken = (type: unknown) =>
    after.includes(type) || (type === 'integer' && after.includes('number'));
  const isSame = before.length === after.length && before.every((type) => after.includes(type));
  const isWider =
    direction === 'request' && (after.length === 0 || (before.length > 0 && before.every(isTaken)));
  if (!isSame && !isWider) report(`the type is ${inWords(after)} and was ${inWords(before)}`);
}

function inWords(types: readonly unknown[]): string {
  return types.length === 0 ? 'open' : types.join(' or ');
}

function valuesOf(schema: unknown): readonly unknown[] | undefined {
  const constant = memberOf(schema, 'const');
  if (constant !== undefined) return [constant];
  const values = memberOf(schema, 'enum');
  return values === undefined ? undefined : itemsOf(values);
}

function compareValues(
  direction: Direction,
  was: unknown,
  now: unknown,
  memberName: string,
  report: Report,
): void {
  const before = valuesOf(was);
  const after = valuesOf(now);
  if (direction === 'request') {
    if (after === undefined) return;
    if (before === undefined) report('the values are a closed list now');
    for (const value of before ?? []) {
      if (!after.includes(value))
        report(`the value ${JSON.stringify(value)} is no longer accepted`);
    }
    return;
  }
  if (before === undefined || after === undefined) {
    if (before !== after) report('the list of values was added or removed');
    return;
  }
  for (const value of before) {
    if (!after.includes(value)) report(`the value ${JSON.stringify(value)} is gone`);
  }
  if (growingMembers.includes(memberName)) return;
  for (const value of after) {
    if (!before.includes(value)) report(`the value ${JSON.stringify(value)} is new`);
  }
}

const lowerBounds = ['minLength', 'minimum', 'exclusiveMinimum', 'minItems', 'minProperties'];
const upperBounds = ['maxLength', 'maximum', 'exclusiveMaximum', 'maxItems', 'maxProperties'];
const fixedKeywords = ['pattern', 'format', 'multipleOf', 'default'];

function compareBounds(direction: Direction, was: unknown, now: unknown, report: Report): void {
  const sign = direction === 'request' ? 1 : -1;
  const bounded = [
    ...lowerBounds.map((keyword) => ({ keyword, sign, none: -Infinity })),
    ...upperBounds.map((keyword) => ({ keyword, sign: -sign, none: Infinity })),
  ];
  for (const { keyword, sign: up, none } of bounded) {
    const before = Number(memberOf(was, keyword) ?? none);
    const after = Number(memberOf(now, keyword) ?? none);
    if (up * after > up * before) report(`${keyword} is ${after} and was ${before}`);
  }
  for (const keyword of fixedKeywords) {
    const before = memberOf(was, keyword);
    const after = memberOf(now, keyword);
    const isLifted = direction === 'request' && after === undefined && keyword !== 'default';
    if (before !== after && !isLifted) {
      report(`${keyword} is ${JSON.stringify(after)} and was ${JSON.stringify(before)}`);
    }
  }
}

function compareRequired(direction: Direction, was: unknown, now: unknown, report: Report): void {
  const before = itemsOf(memberOf(was, 'required'));
  const after = itemsOf(memberOf(now, 'required'));
  const [from, to] = direction === 'request' ? [after, before] : [before, after];
  const says = direction === 'request' ? 'is required now' : 'is optional now';
  for (const one of from) if (!to.includes(one)) report(`the member ${String(one)} ${says}`);
  if (direction === 'request' && isClosed(now) && !isClosed(was)) {
    report('further members are refused now');
  }
}

function isClosed(schema: unknown): boolean {
  return memberOf(schema, 'additionalProperties') === false;
}

function compareMembers(
  context: Comparison,
  direction: Direction,
  at: string,
  was: unknown,
  now: unknown,
): void {
  const before = memberOf(was, 'properties');
  const after = memberOf(now, 'properties');
  for (const [member, schema] of membersOf(before)) {
    const other = memberOf(after, member);
    const place = `${at}.${member}`;
    if (other === undefined) context.found.push(`${place}: the member is gone`);
    else compareSchemas(context, direction, place, schema, other, member);
  }
  if (direction === 'response' || isClosed(was)) return;
  for (const [member] of membersOf(after)) {
    if (memberOf(before, member) !== undefined) continue;
    context.found.push(`${at}.${member}: the member was free and has a schema now`);
  }
}

function variantsOf(schema: unknown): readonly unknown[] {
  return itemsOf(memberOf(schema, 'anyOf') ?? memberOf(schema, 'oneOf'));
}

/** Each old variant must have an equal new one. In answers, each new one must also have an old one. */
function compareVariants(
  context: Comparison,
  direction: Direction,
  at: string,
  was: unknown,
  now: unknown,
): void {
  const before = variantsOf(was);
  const after = variantsOf(now);
  if (before.length === 0 && (after.length === 0 || direction === 'request')) {
    if (after.length > 0) findLike(context, direction, at, was, after);
    return;
  }
  if (after.length === 0 && direction === 'request') {
    for (const variant of before) compareSchemas(context, direction, at, variant, now);
    return;
  }
  for (const variant of before) findLike(context, direction, at, variant, after);
  if (direction === 'request' || before.every(isGrowing)) return;
  if (after.length > before.length) context.found.push(`${at}: a variant is new`);
}

/** True if a member that may get new values distinguishes this variant from the others. */
function isGrowing(schema: unknown): boolean {
  const properties = memberOf(schema, 'properties');
  return growingMembers.some((name) => memberOf(memberOf(properties, name), 'const') !== undefined);
}

function findLike(
  context: Comparison,
  direction: Direction,
  at: string,
  variant: unknown,
  others: readonly unknown[],
): void {
  const attempts = others.map((other) => {
    const attempt: Comparison = { ...context, found: [] };
    compareSchemas(attempt, direction, at, variant, other);
    return attempt.found;
  });
  if (attempts.some((found) => found.length === 0)) return;
  const nearest = attempts.toSorted((a, b) => a.length - b.length)[0] ?? [];
  context.found.push(...(nearest.length > 0 ? nearest : [`${at}: a variant is gone`]));
}
